package text

import (
	"fmt"

	"notifier/internal/orders"
)

// try makes every template's text of an order with everything and of one with nothing.
func (r *Renderer) try() error {
	total := int64(2500)
	samples := []orders.Payload{
		{Number: "A-1"},
		{
			OrderID: 1, Number: "A-1", CustomerName: "Anna", Currency: "EUR", TotalCents: &total,
			Items: []orders.Item{{Name: "Tea", Quantity: 2, UnitPriceCents: 1250}},
			Note:  "By the door", TrackingURL: "https://example.com/1",
		},
	}
	for _, name := range r.catalog.languages() {
		for messageType, t := range r.catalog[name] {
			for _, p := range samples {
				made, err := execute(t, newView(p, newMoney(name), 0, len(p.Items)))
				if err == nil {
					_, err = sized(made)
				}
				if err != nil {
					return fmt.Errorf("template %s/%s%s: %w", name, messageType, extension, err)
				}
			}
		}
	}
	return nil
}
