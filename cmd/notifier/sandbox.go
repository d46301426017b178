package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"notifier/internal/telegram/sandbox"
)

type sandboxCmd struct {
	Listen      string `help:"Where to listen (by default ${default}); port 0 picks a free one." default:"127.0.0.1:8081" placeholder:"ADDR"`
	StrictChats bool   `help:"Chats are unknown until their customer presses Start, as at Telegram."`
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
	box := sandbox.New(sandbox.Options{StrictChats: c.StrictChats})
	return serveSandbox(ctx, l, box)
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
