// Command notifier delivers a shop's notifications through Telegram.
//
// It owns the verbs, their help and exit codes, questions to a person, and the demo, and nothing that a
// shop would call a rule: a verb about orders, messages or chats asks the same handlers that
// answer HTTP, in this process and on the database directly.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // cron lines know their time zone on any machine

	"github.com/alecthomas/kong"

	"notifier/internal/app"
	"notifier/internal/config"
)

func main() {
	os.Exit(run(untilSignal(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// untilSignal is a context that a signal ends. A second one ends the process at once, unless it says
// that the terminal has gone: a shell and the kernel both send that.
func untilSignal() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGHUP)
		stop()
	})
	return ctx
}

// Exit codes.
const (
	exitFailure  = 1
	exitUsage    = 2
	exitWorkLeft = 3 // dispatch: something is due, and cannot be sent now
)

// program is one run of notifier: what it gets from outside.
type program struct {
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	// envFile is the settings file that was named.
	envFile string
}

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stdin: stdin, stdout: stdout, stderr: stderr}
	var c cli
	leave := func(code int) { panic(left(code)) }
	parser, err := kong.New(&c,
		kong.Name("notifier"),
		kong.Description("Delivers a shop's notifications through Telegram. Try `notifier demo`: it needs nothing."),
		kong.Writers(stdout, stderr), kong.Exit(leave),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.WithHyphenPrefixedParameters(true),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(p))
	if err != nil {
		return p.fail(err)
	}
	command, code, err := parse(parser, positionalChats(args))
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "notifier: %v\n", err)
		fmt.Fprintf(stderr, "See `notifier %s--help`.\n", helpFor(command))
		return exitUsage
	case command == nil: // --help has been shown
		return code
	}
	p.envFile = c.EnvFile
	return p.fail(command.Run())
}

// left is how kong ends after --help.
type left int

func parse(k *kong.Kong, args []string) (c *kong.Context, code int, err error) {
	defer func() {
		switch l := recover().(type) {
		case nil:
		case left:
			c, code, err = nil, int(l), nil
		default:
			panic(l)
		}
	}()
	c, err = k.Parse(args)
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		c = wrong.Context
	}
	return c, 0, err
}

// helpFor is the command whose help answers a usage error.
func helpFor(c *kong.Context) string {
	if c == nil {
		return ""
	}
	words := ""
	for _, step := range c.Path {
		if step.Command != nil {
			words += step.Command.Name + " "
		}
	}
	return words
}

// codedError ends the program with a code of its own.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// fail tells an error and turns it into an exit code.
func (p *program) fail(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(p.stderr, "notifier: %v\n", err)
	var coded *codedError
	var left *app.WorkLeftError
	switch {
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &left):
		return exitWorkLeft
	}
	return exitFailure
}

// chatMark stands before a negative chat id among the arguments, so that it is no flag.
const chatMark = "chat"

// positionalChats lets negative chat ids follow `chat show` and the like without a `--`.
func positionalChats(args []string) []string {
	if len(args) < 3 || args[0] != "chat" || args[1] == "list" || args[1] == "link" {
		return args
	}
	marked := make([]string, 0, len(args))
	for _, a := range args {
		if digits, negative := strings.CutPrefix(a, "-"); negative && digits != "" && strings.Trim(digits, "0123456789") == "" {
			a = chatMark + a
		}
		marked = append(marked, a)
	}
	return marked
}

// source is where settings are read from.
func (p *program) source() config.Source { return config.Find(p.envFile) }

// settings reads the environment and the settings file, and names one that does not count.
func (p *program) settings() (config.Settings, error) {
	source := p.source()
	if words := source.PassedWords(); words != "" {
		fmt.Fprintf(p.stderr, "notifier: %s\n", words)
	}
	if p.envFile != "" {
		if _, err := os.Stat(p.envFile); err != nil {
			return config.Settings{}, fmt.Errorf("--env-file: %w", err)
		}
	}
	s, err := config.Load(p.environ, source)
	if err != nil {
		return s, wrongSettings(err)
	}
	return s, nil
}

func wrongSettings(err error) error {
	return fmt.Errorf("the settings are not right; .env.example explains them all:\n%w", err)
}
