package text

import (
	"fmt"
	"html/template"
	"slices"

	"notifier/internal/orders"
)

// try makes every template's text of a payload with everything and of one with nothing.
func (r *Renderer) try() error {
	for _, name := range r.catalog.languages() {
		m := newMoney(name)
		for messageType, t := range r.catalog[name] {
			attempt := tryOrder
			if slices.Contains(replyTypes, messageType) {
				attempt = tryAnswer
			}
			if err := attempt(t, m); err != nil {
				return fmt.Errorf("template %s/%s%s: %w", name, messageType, extension, err)
			}
		}
	}
	return nil
}

func tryOrder(t *template.Template, m money) error {
	total := int64(2500)
	for _, p := range []orders.Payload{
		{Number: "A-1"},
		{
			OrderID: 1, Number: "A-1", CustomerName: "Anna", Currency: "EUR", TotalCents: &total,
			Items: []orders.Item{{Name: "Tea", Quantity: 2, UnitPriceCents: 1250}},
			Note:  "By the door", TrackingURL: "https://example.com/1",
		},
	} {
		made, err := execute(t, newView(p, m, 0, len(p.Items)))
		if err == nil {
			_, err = sized(made)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func tryAnswer(t *template.Template, m money) error {
	for _, p := range []orders.ReplyPayload{
		{},
		{
			CustomerName: "Anna", Stopped: true, OpenOrders: 3,
			Orders: []orders.OpenOrder{{OrderID: 1, Number: "A-1", Status: string(orders.Paid), Currency: "EUR", TotalCents: 2500}},
		},
	} {
		if _, err := reply(t, p, m); err != nil {
			return err
		}
	}
	return nil
}
