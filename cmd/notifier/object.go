package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bojanz/currency"
)

// object is a JSON object of the API.
type object map[string]any

func decode(body []byte) (object, error) {
	var a object
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("read the response: %w", err)
	}
	return a, nil
}

// text is a field as people read it; empty when it is not there.
func (a object) text(name string) string {
	switch v := a[name].(type) {
	case nil:
		return ""
	case string:
		if t, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return t.UTC().Format("2006-01-02 15:04:05 MST")
		}
		return printable(v)
	case json.Number:
		return v.String()
	case map[string]any, []any:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return printable(string(b))
	default:
		return fmt.Sprint(v)
	}
}

// printable keeps control characters that somebody put into a text away from the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
}

// list are the objects in a field.
func (a object) list(name string) []object {
	items, _ := a[name].([]any)
	list := make([]object, 0, len(items))
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			list = append(list, o)
		}
	}
	return list
}

// money is an order's total with its currency.
func (a object) money() string {
	n, ok := a["totalCents"].(json.Number)
	if !ok {
		return ""
	}
	cents, err := n.Int64()
	if err != nil {
		return n.String()
	}
	amount, err := currency.NewAmountFromInt64(cents, a.text("currency"))
	if err != nil {
		return n.String()
	}
	return amount.String()
}

// fields prints one line for each field that is there.
func fields(w io.Writer, a object, names ...string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range names {
		if v := a.text(name); v != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, v)
		}
	}
	return t.Flush()
}

// table prints objects under the names of their fields. Empty cells keep their place: a column ends
// for tabwriter where a line has no cell for it.
func table(w io.Writer, list []object, names ...string) error {
	var aligned bytes.Buffer
	t := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(names, "\t"))
	for _, a := range list {
		row := make([]string, 0, len(names))
		for _, name := range names {
			row = append(row, a.text(name))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(aligned.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// page prints a list, and how to see more of it.
func page(w io.Writer, a object, nothing string, names ...string) error {
	items := a.list("items")
	if len(items) == 0 {
		_, err := fmt.Fprintln(w, nothing)
		return err
	}
	if err := table(w, items, names...); err != nil {
		return err
	}
	if next := a.text("next"); next != "" {
		_, err := fmt.Fprintf(w, "more with --after %s\n", next)
		return err
	}
	return nil
}
