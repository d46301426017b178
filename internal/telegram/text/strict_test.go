package text

import (
	"encoding/json"
	"errors"
	"testing"
)

// A message that its writer can still mend is held against its type, field by field; a row that is
// there already is not.
func TestCheckNewNamesTheField(t *testing.T) {
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ messageType, payload, pointer string }{
		{"Text", `{"text":"x","foo":1}`, "/payload/foo"},
		{"Text", `{"text":"x","a/b~":1}`, "/payload/a~1b~0"},
		{"Text", `{"Text":"x"}`, "/payload/Text"},
		{"Text", `{"text":"x","locale":"!!"}`, "/payload/locale"},
		{"Text", `{"text":1}`, "/payload/text"},
		{"Text", `{"text":"x","buttons":[{"text":"a","url":"https://a.example"},{"text":"b","link":"x"}]}`, "/payload/buttons/1/link"},
		{"Text", `{"text":"x","buttons":{}}`, "/payload/buttons"},
		{"OrderPaid", `{"number":"A-1","foo":1}`, "/payload/foo"},
		{"OrderPaid", `{"number":"A-1","locale":"r u"}`, "/payload/locale"},
		{"OrderPaid", `{"number":"A-1","currency":"zz"}`, "/payload/currency"},
		{"OrderPaid", `{"number":"A-1","totalCents":1.5}`, "/payload/totalCents"},
		{"OrderPaid", `{"number":"A-1","items":[{"name":"Tea","quantity":"2"}]}`, "/payload/items/0/quantity"},
		{"BotHelp", `{"stopped":"yes"}`, "/payload/stopped"},
		{"OrderPayed", `{"number":"A-1"}`, "/type"},
		{"OrderPaid", `{}`, ""},
		{"Text", `{"html":"<b>broken"}`, ""},
	} {
		var e *Error
		err := r.CheckNew(c.messageType, json.RawMessage(c.payload))
		if !errors.As(err, &e) || e.Pointer() != c.pointer || e.Detail() == "" {
			t.Errorf("%s %s: %v, want %q", c.messageType, c.payload, err, c.pointer)
		}
	}
	for messageType, payload := range map[string]string{
		"Text":      `{"text":"x","html":null,"locale":"pt-BR","buttons":[{"text":"a","url":"https://a.example"}]}`,
		"OrderPaid": `{"orderId":1,"number":"A-1","customerName":"Anna","locale":"ru","currency":"EUR","totalCents":2500,"items":[{"name":"Tea","quantity":2,"unitPriceCents":1250}],"note":"","trackingUrl":""}`,
	} {
		if err := r.CheckNew(messageType, json.RawMessage(payload)); err != nil {
			t.Errorf("%s: %v", messageType, err)
		}
	}
	if err := r.check("OrderPaid", json.RawMessage(`{"number":"A-1","locale":"!!","currency":"zz","foo":1}`)); err != nil {
		t.Errorf("a row of another program: %v", err)
	}
}
