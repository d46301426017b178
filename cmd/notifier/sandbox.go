package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"notifier/internal/telegram/sandbox"
)

type sandboxCmd struct {
	Listen      string `help:"Where to listen (by default ${default}); port 0 picks a free one." default:"127.0.0.1:8081" placeholder:"ADDR"`
	StrictChats bool   `help:"Chats are unknown until their customer presses Start, as at Telegram."`

	Tolerance    time.Duration `help:"How early a call may be and still be let through; 0s is exact." default:"50ms" placeholder:"DURATION"`
	Memory       int64         `help:"How many MiB it may take; the oldest messages, calls and chats go when it is full." default:"256" placeholder:"MIB"`
	Scenario     string        `help:"A file of what is to be done to it, as GET /sandbox/scenario gives it." type:"existingfile" placeholder:"FILE"`
	FindEntities bool          `help:"Mark links, mentions, hashtags and so on that a text has by itself, as Telegram does."`
}

// Run is the sandbox, until ctx ends.
func (c *sandboxCmd) Run(ctx context.Context, p *program) error {
	outliveReaders()
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("%w\n--listen chooses another address, such as 127.0.0.1:0", err)
	}
	if err := json.NewEncoder(p.stdout).Encode(map[string]string{"url": "http://" + l.Addr().String()}); err != nil {
		return err
	}
	memory := c.Memory << 20
	debug.SetMemoryLimit(memory) // the collector works harder before it is reached
	box := sandbox.New(sandbox.Options{StrictChats: c.StrictChats, Memory: memory, FindEntities: c.FindEntities})
	limits := box.Limits()
	limits.Tolerance = c.Tolerance
	if err := box.SetLimits(limits); err != nil {
		return fmt.Errorf("--tolerance: %w", err)
	}
	return c.serve(ctx, l, box)
}

// serve answers on l until ctx ends, while the scenario, if there is one, is
// played.
func (c *sandboxCmd) serve(ctx context.Context, l net.Listener, box *sandbox.Sandbox) error {
	if c.Scenario == "" {
		return serveSandbox(ctx, l, box)
	}
	file, err := os.Open(c.Scenario)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveSandbox(ctx, l, box) })
	group.Go(func() error {
		if err := box.Play(ctx, file); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	})
	return group.Wait()
}

// serveSandbox answers on l until ctx ends. Calls that hang are ended.
func serveSandbox(ctx context.Context, l net.Listener, box *sandbox.Sandbox) error {
	server := &http.Server{Handler: box, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		box.Close()
		stopped <- server.Close()
	})
	err := server.Serve(l)
	if stop() { // it ended by itself
		box.Close()
		return fmt.Errorf("serve the sandbox: %w", err)
	}
	if err := <-stopped; err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("end the sandbox: %w", err)
	}
	return nil
}
