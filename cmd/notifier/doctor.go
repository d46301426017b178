package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"notifier/internal/app"
	"notifier/internal/doctor"
)

type doctorCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run looks for what is wrong and prints it.
func (c *doctorCmd) Run(ctx context.Context, p *program) error {
	report := doctor.Examine(ctx, doctor.Options{
		Environ: p.environ, Source: p.source(), Outbox: app.NewOutbox, Client: app.NewClient,
	})
	var err error
	if c.JSON {
		err = json.NewEncoder(p.stdout).Encode(report)
	} else {
		err = printReport(p.stdout, report)
	}
	if failed := report.Failed(); err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d checks failed; each says what mends it", failed, len(report.Findings))
	}
	return err
}

func printReport(w io.Writer, r doctor.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.Findings {
		word := "ok"
		if !f.OK {
			word = "FAIL"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", word, f.Check, printable(f.Detail))
		if f.Mend != "" {
			fmt.Fprintf(t, "\t\tmend: %s\n", f.Mend)
		}
	}
	return t.Flush()
}
