package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram/syntax"
)

// maxMetadata bounds what a shop may keep with an order, in bytes of JSON without white space.
const maxMetadata = 4096

type placeBody struct {
	Number     string       `json:"number,omitempty" maxLength:"200" doc:"the shop's own number; unique"`
	Customer   customerBody `json:"customer"`
	Currency   string       `json:"currency" doc:"ISO 4217, such as EUR"`
	TotalCents int64        `json:"totalCents" minimum:"0" doc:"in the currency's minor unit"`
	Items      []itemBody   `json:"items,omitempty" maxItems:"200"`
	Note       string       `json:"note,omitempty" maxLength:"1000"`
	Metadata   object       `json:"metadata,omitempty" doc:"any object up to 4 KiB, kept and returned"`
}

type customerBody struct {
	ID     string `json:"id" minLength:"1" maxLength:"200"`
	Name   string `json:"name,omitempty" maxLength:"200"`
	Locale string `json:"locale,omitempty" maxLength:"35" pattern:"^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)?$" patternDescription:"a language tag such as en or pt-BR"`
	ChatID *int64 `json:"chatId,omitempty" doc:"binds the customer to this chat"`
}

type itemBody struct {
	Name           string `json:"name" minLength:"1" maxLength:"200"`
	Quantity       int64  `json:"quantity,omitempty" minimum:"1" default:"1"`
	UnitPriceCents int64  `json:"unitPriceCents,omitempty" minimum:"0" doc:"in the currency's minor unit"`
}

// order checks what the schema cannot say and turns the body into what the book takes.
func (b placeBody) order() (orders.NewOrder, error) {
	n := orders.NewOrder{
		Number: b.Number, Currency: b.Currency, TotalCents: b.TotalCents, Note: b.Note,
		Customer: orders.Mention{ID: b.Customer.ID, Name: b.Customer.Name, Locale: b.Customer.Locale},
	}
	switch {
	case blank(b.Number):
		return n, invalid("/number", "is blank: give the shop's own number, or leave it out")
	case blank(b.Customer.ID):
		return n, invalid("/customer/id", "is blank")
	}
	if chat := b.Customer.ChatID; chat != nil {
		if !syntax.IsChatID(*chat) {
			return n, invalid("/customer/chatId", chatIDExpect)
		}
		n.Customer.ChatID = *chat
	}
	for i, item := range b.Items {
		if item.UnitPriceCents > 0 && item.Quantity > math.MaxInt64/item.UnitPriceCents {
			return n, invalid(fmt.Sprintf("/items/%d/quantity", i), "times unitPriceCents is too much")
		}
		n.Items = append(n.Items, orders.Item(item))
	}
	var kept bytes.Buffer
	if len(b.Metadata) > 0 && string(b.Metadata) != "null" {
		if err := json.Compact(&kept, b.Metadata); err != nil {
			return n, err
		}
		if kept.Len() > maxMetadata {
			return n, invalid("/metadata", fmt.Sprintf("is larger than %d bytes", maxMetadata))
		}
		n.Metadata = kept.Bytes()
	}
	return n, nil
}

type statusBody struct {
	Status      statusWord `json:"status"`
	Note        string     `json:"note,omitempty" maxLength:"1000"`
	TrackingURL string     `json:"trackingUrl,omitempty" maxLength:"2000"`
}

// change checks what the schema cannot say and turns the body into what the book takes.
func (b statusBody) change() (orders.Change, error) {
	c := orders.Change{Status: orders.Status(b.Status), Note: b.Note, TrackingURL: b.TrackingURL}
	if b.TrackingURL == "" {
		return c, nil
	}
	u, err := url.Parse(b.TrackingURL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return c, invalid("/trackingUrl", "must be an address that begins with https:// or http://")
	}
	return c, nil
}

// OrderBody is what every answer about an order tells.
type OrderBody struct {
	OrderID     int64         `json:"orderId"`
	Number      string        `json:"number"`
	Status      orders.Status `json:"status"`
	CustomerID  string        `json:"customerId"`
	TotalCents  int64         `json:"totalCents"`
	Currency    string        `json:"currency"`
	CreatedAt   time.Time     `json:"createdAt"`
	UpdatedAt   time.Time     `json:"updatedAt"`
	Items       []orders.Item `json:"items"`
	Note        string        `json:"note"`
	Metadata    object        `json:"metadata"`
	StatusNote  string        `json:"statusNote"`
	TrackingURL string        `json:"trackingUrl"`
}

func showOrder(o orders.Order) OrderBody {
	return OrderBody{
		OrderID: o.ID, Number: o.Number, Status: o.Status, CustomerID: o.CustomerID,
		TotalCents: o.TotalCents, Currency: o.Currency, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
		Items: o.Items, Note: o.Note, Metadata: object(o.Metadata),
		StatusNote: o.StatusNote, TrackingURL: o.TrackingURL,
	}
}

// placedBody answers an order that was placed.
type placedBody struct {
	OrderBody
	Messages   []messageRef `json:"messages"`
	ConnectURL connectURL   `json:"connectUrl,omitzero" doc:"for a customer without a chat: where to connect one"`
}

// changedBody answers a change of status.
type changedBody struct {
	OrderBody
	Changed  bool         `json:"changed"`
	Messages []messageRef `json:"messages"`
}

// orderPage shows an order with all its messages.
type orderPage struct {
	OrderBody
	Summary  string       `json:"summary" doc:"how things stand, in one sentence"`
	Messages []messageRef `json:"messages"`
}

// messageRef is a message as an order's answer names it.
type messageRef struct {
	MessageID int64        `json:"messageId"`
	Recipient string       `json:"recipient"`
	Type      string       `json:"type"`
	State     outbox.State `json:"state"`
	Reason    string       `json:"reason,omitempty"`
}

func refer(messages []outbox.Message) []messageRef {
	refs := []messageRef{}
	for _, m := range messages {
		refs = append(refs, messageRef{MessageID: m.ID, Recipient: whereTo(m), Type: m.Type, State: m.State, Reason: m.Reason})
	}
	return refs
}

// whereTo is the chat a message goes to, or customer:<id> while there is none.
func whereTo(m outbox.Message) string {
	if m.Address != "" {
		return m.Address
	}
	return m.Recipient
}

// connectURL is absent for a customer with a chat, and null while it is not known.
type connectURL struct {
	needed bool
	url    string
}

// Schema describes it to huma.
func (connectURL) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uri", Nullable: true}
}

// IsZero lets it be left out.
func (c connectURL) IsZero() bool { return !c.needed }

// MarshalJSON implements json.Marshaler.
func (c connectURL) MarshalJSON() ([]byte, error) {
	if c.url == "" {
		return []byte("null"), nil
	}
	return json.Marshal(c.url)
}

// UnmarshalJSON implements json.Unmarshaler. What was stored is of no interest: it is told anew.
func (c *connectURL) UnmarshalJSON([]byte) error { return nil }

// statusWord is a status in a request.
type statusWord orders.Status

// Schema implements huma.SchemaProvider: the words are those of orders.
func (statusWord) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, word := range orders.Statuses() {
		s.Enum = append(s.Enum, string(word))
	}
	s.PrecomputeMessages()
	return s
}
