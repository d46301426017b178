package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"notifier/internal/database"
	"notifier/internal/orders"
)

type customerForgetCmd struct {
	ID   string `arg:"" help:"The customer's id."`
	JSON bool   `help:"Print JSON."`
}

// Run erases who a customer is and keeps the numbers.
func (c *customerForgetCmd) Run(ctx context.Context, p *program) error {
	h, err := p.house(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	var f orders.Forgotten
	err = h.db.Write(ctx, func(tx database.Tx) (err error) {
		f, err = h.book.Forget(tx, time.Now(), c.ID)
		return err
	})
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
