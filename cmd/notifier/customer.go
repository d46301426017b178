package main

import (
	"context"
	"encoding/json"
	"fmt"
)

type customerForgetCmd struct {
	ID   string `arg:"" help:"The customer's id."`
	JSON bool   `help:"Print JSON."`
}

// Run erases who a customer is and keeps the numbers.
func (c *customerForgetCmd) Run(ctx context.Context, p *program) error {
	a, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	f, err := a.Forget(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(map[string]int{"orders": f.Orders, "messages": f.Messages})
	}
	_, err = fmt.Fprintf(p.stdout, "Erased name, chat and texts of customer %s in %d orders and %d messages; numbers, totals and times stay.\n"+
		"Older backups still hold them.\n", printable(c.ID), f.Orders, f.Messages)
	return err
}
