package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// talk is a conversation with a person through stdin and stdout.
type talk struct {
	out   io.Writer
	lines chan string
}

// errNoAnswer says that stdin ended.
var errNoAnswer = errors.New("no answer: this verb asks questions, so run it in a terminal, or give it the answers line by line")

// newTalk reads lines beside, so that the end of ctx is noticed while nobody answers.
func newTalk(in io.Reader, out io.Writer) *talk {
	t := &talk{out: out, lines: make(chan string)}
	go func() {
		defer close(t.lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			t.lines <- strings.TrimSpace(scanner.Text())
		}
	}()
	return t
}

func (t *talk) say(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// ask asks for one line.
func (t *talk) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(t.out, question+" ")
	select {
	case line, open := <-t.lines:
		if !open {
			return "", errNoAnswer
		}
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// confirm asks for a yes or a no; an empty line means yes.
func (t *talk) confirm(ctx context.Context, question string) (bool, error) {
	for {
		answer, err := t.ask(ctx, question+" [Y/n]")
		switch strings.ToLower(answer) {
		case "", "y", "yes":
			return err == nil, err
		case "n", "no":
			return false, err
		}
		if err != nil {
			return false, err
		}
	}
}
