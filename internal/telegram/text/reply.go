package text

import (
	"encoding/json"
	"html/template"
	"strconv"

	"notifier/internal/orders"
)

// replyView is what a reply's template sees: finished strings, not yet escaped.
type replyView struct {
	Customer string
	Stopped  bool
	Orders   []orderLine
	More     int64 // open orders that are not listed
	Open     int64 // all of them
}

type orderLine struct{ Order, Status, Total string }

const (
	// maxValue UTF-16 code units of each value from outside are shown, of a status maxStatus: so any
	// reply, with orders.MaxListed lines, fits into a message.
	maxValue  = 200
	maxStatus = 20
)

func (r *Renderer) renderReply(messageType string, payload json.RawMessage) (Text, error) {
	var p orders.ReplyPayload
	if err := decode(payload, &p); err != nil {
		return Text{}, err
	}
	t, locale := r.template(messageType, p.Locale)
	return reply(t, p, newMoney(locale))
}

func reply(t *template.Template, p orders.ReplyPayload, m money) (Text, error) {
	made, err := execute(t, newReplyView(p, m))
	if err != nil {
		return Text{}, err
	}
	if !fitsMessage(made) {
		return Text{}, templateError("the template " + t.Name() + " makes a text that is too long or blank")
	}
	return made, nil
}

func newReplyView(p orders.ReplyPayload, m money) replyView {
	v := replyView{
		Customer: known(line(p.CustomerName, maxValue)),
		Stopped:  p.Stopped,
		Open:     max(p.OpenOrders, int64(len(p.Orders))),
	}
	for _, o := range p.Orders[:min(orders.MaxListed, len(p.Orders))] {
		l := orderLine{
			Order:  "#" + strconv.FormatInt(o.OrderID, 10),
			Status: line(o.Status, maxStatus),
			Total:  m.show(o.TotalCents, o.Currency),
		}
		if !blank(o.Number) {
			l.Order = line(o.Number, maxValue)
		}
		v.Orders = append(v.Orders, l)
	}
	v.More = v.Open - int64(len(v.Orders))
	return v
}
