package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"notifier/internal/orders"
	"notifier/internal/outbox"
)

// oneOf reads a word that must be one of those listed.
func oneOf[S ~string](into *string, text []byte, words ...S) error {
	if slices.Contains(words, S(text)) {
		*into = string(text)
		return nil
	}
	var list []string
	for _, w := range words {
		list = append(list, string(w))
	}
	return fmt.Errorf("must be one of %s, not %q", strings.Join(list, ", "), text)
}

// messageState is a state of messages as an argument.
type messageState string

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (s *messageState) UnmarshalText(text []byte) error {
	return oneOf((*string)(s), text, outbox.StatePending, outbox.StateSending, outbox.StateSent, outbox.StateUncertain, outbox.StateDead, outbox.StateCanceled)
}

// chatState is a state of chats as an argument.
type chatState string

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (s *chatState) UnmarshalText(text []byte) error {
	return oneOf((*string)(s), text, outbox.RecipientOpen, outbox.RecipientDoubtful, outbox.RecipientDead)
}

// orderStatus is an order's next status as an argument.
type orderStatus string

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (s *orderStatus) UnmarshalText(text []byte) error {
	return oneOf((*string)(s), text, orders.Statuses()...)
}

// uncertainPolicy is resend or hold as an argument.
type uncertainPolicy string

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (s *uncertainPolicy) UnmarshalText(text []byte) error {
	return oneOf((*string)(s), text, outbox.OnUncertainResend, outbox.OnUncertainHold)
}

// pageLimit is how many rows a list shows, as an argument.
type pageLimit int

const mostRows = 500

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (l *pageLimit) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > mostRows {
		return fmt.Errorf("must be a whole number from 1 to %d, not %q", mostRows, text)
	}
	*l = pageLimit(n)
	return nil
}

// timeArg is a time as an argument, as it was written.
type timeArg string

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (t *timeArg) UnmarshalText(text []byte) error {
	if _, err := time.Parse(time.RFC3339, string(text)); err != nil {
		return fmt.Errorf("must be a time such as 2026-11-30T15:04:05Z, not %q", text)
	}
	*t = timeArg(text)
	return nil
}

// idArg is the id of a message or an order as an argument.
type idArg int64

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (i *idArg) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("an id is a whole number from 1 on, such as 17, not %q", text)
	}
	*i = idArg(n)
	return nil
}

// centsArg is an amount in a currency's minor unit as an argument.
type centsArg int64

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (c *centsArg) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("an amount is a whole number in the currency's minor unit, such as 2500 for 25.00 EUR, not %q", text)
	}
	*c = centsArg(n)
	return nil
}

// options say which option of a verb a field of its request comes from.
type options map[string]string

// misused turns a refusal of a field that came from an option into a usage error about that option:
// whoever typed it has seen no JSON.
func (o options) misused(status int, body []byte) error {
	if status != http.StatusUnprocessableEntity {
		return nil
	}
	var f struct {
		Errors []struct{ Detail, Pointer string }
	}
	if json.Unmarshal(body, &f) != nil || len(f.Errors) == 0 {
		return nil //nolint:nilerr // a response without fields names no option
	}
	first := f.Errors[0]
	option := ""
	for at := first.Pointer; at != "" && option == ""; at = at[:strings.LastIndexByte(at, '/')] {
		option = o[at] // of the field, or of what holds it
		if rest := strings.TrimPrefix(first.Pointer, at); option != "" && rest != "" {
			first.Detail = rest + " in it " + first.Detail
		}
	}
	if option == "" {
		return nil
	}
	return &codedError{exitUsage, fmt.Errorf("%s: %s", option, first.Detail)}
}
