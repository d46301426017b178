package text

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"notifier/internal/orders"
)

// defaultLocale is the locale of messages that name none.
const defaultLocale = "en"

// Text is a message as it is sent.
type Text struct {
	HTML    string // in Telegram's HTML; its visible text is 1 to 4096 UTF-16 units long
	Plain   string // the visible text alone, for the case that the markup is refused
	Buttons []Button
}

// Options of a Renderer. The zero value is good.
type Options struct {
	// Locale is used for messages that name none or one whose language has no templates; empty:
	// DefaultLocale. Its own language must have a template for every type.
	Locale string
	// Templates holds files that replace or add to the built-in ones, as en/OrderPaid.html; nil:
	// none.
	Templates fs.FS
}

// Renderer makes texts. It does not change after New.
type Renderer struct {
	catalog catalog
	locale  string
}

// New reads the templates and tries each of them, so that a fault in one is found at the start and
// not by a customer. Its error names the file.
func New(o Options) (*Renderer, error) {
	c, err := loadCatalog(o.Templates)
	if err != nil {
		return nil, err
	}
	r := &Renderer{catalog: c, locale: o.Locale}
	if r.locale == "" {
		r.locale = defaultLocale
	}
	home := c[language(r.locale)]
	if home == nil {
		return nil, fmt.Errorf("no templates for the locale %q: known are %s", r.locale, strings.Join(c.languages(), ", "))
	}
	for _, t := range templateTypes() {
		if home[t] == nil {
			return nil, fmt.Errorf("template %s/%s%s is missing", language(r.locale), t, extension)
		}
	}
	return r, r.try()
}

// Render makes the text of a message from its type and payload. Its error is a *Error.
func (r *Renderer) Render(messageType string, payload json.RawMessage) (Text, error) {
	switch {
	case messageType == orders.TypeText:
		return renderText(payload)
	case slices.Contains(orderTypes, messageType):
		return r.renderOrder(messageType, payload)
	case slices.Contains(replyTypes, messageType):
		return r.renderReply(messageType, payload)
	}
	return Text{}, templateError("there is no template for this type")
}

// check says with a *Error why a message could not be sent, as Render would.
func (r *Renderer) check(messageType string, payload json.RawMessage) error {
	_, err := r.Render(messageType, payload)
	return err
}
