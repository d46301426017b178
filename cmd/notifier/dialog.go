package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// dialog asks a person through stdin and stdout.
type dialog struct {
	out   io.Writer
	lines chan string
}

// errNoAnswer says that stdin ended.
var errNoAnswer = errors.New("no answer: this verb asks questions, so run it in a terminal, or give it the answers line by line")

// newDialog reads lines beside, so that the end of ctx is noticed while nobody answers.
func newDialog(in io.Reader, out io.Writer) *dialog {
	d := &dialog{out: out, lines: make(chan string)}
	go func() {
		defer close(d.lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			d.lines <- strings.TrimSpace(scanner.Text())
		}
	}()
	return d
}

func (d *dialog) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

// ask asks for one line.
func (d *dialog) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(d.out, question+" ")
	select {
	case line, open := <-d.lines:
		if !open {
			return "", errNoAnswer
		}
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// confirm asks for a yes or a no; an empty line means yes.
func (d *dialog) confirm(ctx context.Context, question string) (bool, error) {
	for {
		answer, err := d.ask(ctx, question+" [Y/n]")
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
