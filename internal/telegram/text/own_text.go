package text

import (
	"encoding/json"
	"fmt"
	"html"
	"unicode/utf8"
)

// ownText is the payload of orders.TypeText: one of Text and HTML.
type ownText struct {
	Text    *string  `json:"text"`
	HTML    *string  `json:"html"`
	Locale  string   `json:"locale"` // kept for the answers to it; the text needs none
	Buttons []Button `json:"buttons"`
}

func renderText(payload json.RawMessage) (Text, error) {
	var own ownText
	if err := decode(payload, &own); err != nil {
		return Text{}, err
	}
	if own.Text != nil && own.HTML != nil {
		return Text{}, templateError("the payload has both text and html")
	}
	if own.Text == nil && own.HTML == nil {
		return Text{}, templateError("the payload has neither text nor html")
	}
	if err := checkButtons(own.Buttons); err != nil {
		return Text{}, err
	}
	if own.HTML != nil {
		return fromHTML(*own.HTML, own.Buttons)
	}
	return fromPlain(*own.Text, own.Buttons)
}

func fromPlain(plain string, buttons []Button) (Text, error) {
	if !utf8.ValidString(plain) {
		return Text{}, rejected("the text is not valid UTF-8")
	}
	plain = clean(plain)
	return sized(Text{HTML: html.EscapeString(plain), Plain: plain, Buttons: buttons})
}

func fromHTML(source string, buttons []Button) (Text, error) {
	if !utf8.ValidString(source) {
		return Text{}, rejected("the text is not valid UTF-8")
	}
	plain, err := visible(source)
	if err != nil {
		return Text{}, err
	}
	return sized(Text{HTML: source, Plain: plain, Buttons: buttons})
}

// sized lets a text through that is neither blank nor too long.
func sized(t Text) (Text, error) {
	switch n := units(t.Plain); {
	case blank(t.Plain):
		return Text{}, rejected("the text is blank")
	case n > maxUnits:
		return Text{}, rejected(fmt.Sprintf("the text is %d characters (UTF-16) long, at most %d are taken", n, maxUnits))
	case len(t.HTML) > maxBytes:
		return Text{}, rejected(fmt.Sprintf("the text is %d bytes long with its markup, at most %d are taken", len(t.HTML), maxBytes))
	}
	return t, nil
}
