package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"notifier/internal/doctor"
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
		c.URL = doctor.ServiceURL(s.Listen)
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	status, body, err := doctor.Get(ctx, c.URL+"/readyz")
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
