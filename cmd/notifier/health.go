package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

type healthCmd struct {
	URL  string `name:"url" help:"Where the service is; by default as NOTIFIER_LISTEN says." placeholder:"URL"`
	JSON bool   `help:"Print the JSON of /readyz."`
}

// healthPatience bounds how long the service may take to answer.
const healthPatience = 10 * time.Second

// Run asks a running service how it is: exit 1 when it takes no orders, or does not answer.
func (c *healthCmd) Run(ctx context.Context, p *program) error {
	if c.URL == "" {
		s, err := p.settings()
		if err != nil {
			return err
		}
		c.URL = urlOf(s.Listen)
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	status, body, err := fetch(ctx, c.URL+"/readyz")
	if err != nil {
		return fmt.Errorf("the service does not answer at %s: is it running? `notifier serve` starts it (%w)", c.URL, err)
	}
	var h health
	if err := json.Unmarshal(body, &h); err != nil || h.Status == "" {
		return fmt.Errorf("what answers at %s is not notifier (status %d): NOTIFIER_LISTEN or --url names another program", c.URL, status)
	}
	if c.JSON {
		_, err = p.stdout.Write(body)
	} else {
		err = h.print(p.stdout)
	}
	if err == nil && status != http.StatusOK {
		err = errors.New("the service takes no orders at present; `notifier doctor` looks for the cause")
	}
	return err
}

// health is the body of /readyz.
type health struct {
	Status   string
	Problems []struct{ Code, Detail string }
}

func (h health) print(w io.Writer) error {
	fmt.Fprintln(w, h.Status)
	for _, problem := range h.Problems {
		fmt.Fprintf(w, "%s: %s\n", problem.Code, printable(problem.Detail))
	}
	return nil
}

// urlOf is where a service that listens at address can be reached from this machine.
func urlOf(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil { // settings are checked
		return "http://" + address
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// fetch gets a small answer.
func fetch(ctx context.Context, url string) (status int, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	body, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, body, err
}
