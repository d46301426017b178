package text

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"notifier/internal/orders"
)

// view is what an order's template sees: finished strings, not yet escaped. An empty one stands
// for what is not known.
type view struct {
	Order    string // the number, or # and the id
	Customer string
	Total    string
	Items    []itemView
	More     int // items that are left out
	Note     string
	Tracking string
}

type itemView struct {
	Quantity int64 // 0: not said
	Name     string
	Price    string // of the whole line
}

func (r *Renderer) renderOrder(messageType string, payload json.RawMessage) (Text, error) {
	var p orders.Payload
	if err := decode(payload, &p); err != nil {
		return Text{}, err
	}
	if blank(p.Number) && p.OrderID <= 0 {
		return Text{}, templateError("the payload has neither number nor orderId")
	}
	t, locale := r.template(messageType, p.Locale)
	return fit(t, p, newMoney(locale))
}

// template finds the template in the language of the message, else in the default one, and the
// locale that goes with it: amounts are written as the words around them.
func (r *Renderer) template(messageType, locale string) (*template.Template, string) {
	if t := r.catalog[language(locale)][messageType]; t != nil {
		return t, locale
	}
	return r.catalog[language(r.locale)][messageType], r.locale
}

// newView prepares an order. most bounds each value from outside, in UTF-16 code units; 0: none.
// At most so many items are shown.
func newView(p orders.Payload, m money, most, items int) view {
	v := view{
		Order:    "#" + strconv.FormatInt(p.OrderID, 10),
		Customer: known(line(p.CustomerName, most)),
		Note:     known(paragraph(p.Note, most)),
		Tracking: known(line(p.TrackingURL, most)),
		More:     len(p.Items) - items,
	}
	if !blank(p.Number) {
		v.Order = line(p.Number, most)
	}
	if p.TotalCents != nil {
		v.Total = m.show(*p.TotalCents, p.Currency)
	}
	for _, item := range p.Items[:items] {
		v.Items = append(v.Items, newItem(item, p.Currency, m, most))
	}
	return v
}

func newItem(item orders.Item, currency string, m money, most int) itemView {
	v := itemView{Name: known(line(item.Name, most)), Quantity: max(0, item.Quantity)}
	if price, ok := times(v.Quantity, item.UnitPriceCents); ok && price != 0 {
		v.Price = m.show(price, currency)
	}
	if v.Name == "" {
		v.Name = "?"
	}
	return v
}

// known gives a value that shows nothing as none.
func known(s string) string {
	if blank(s) {
		return ""
	}
	return s
}

// execute runs a template for a view or an answerView.
func execute(t *template.Template, v any) (Text, error) {
	var out strings.Builder
	if err := t.Execute(&out, v); err != nil {
		return Text{}, templateError(fmt.Sprintf("the template %s failed", t.Name()))
	}
	source := strings.TrimSpace(out.String())
	plain, err := visible(source)
	if err != nil {
		return Text{}, templateError(fmt.Sprintf("the template %s makes HTML that Telegram does not take", t.Name()))
	}
	return Text{HTML: source, Plain: plain}, nil
}
