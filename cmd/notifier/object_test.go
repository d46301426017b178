package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTablesStayInLineAfterEmptyCells(t *testing.T) {
	var out bytes.Buffer
	list := []object{
		{"chatId": "1", "state": "open"},
		{"chatId": "7900000001", "state": "dead", "reason": "blocked", "detail": "Forbidden"},
		{"chatId": "2", "gateUntil": "later"},
	}
	if err := table(&out, list, "chatId", "state", "reason", "gateUntil", "detail"); err != nil {
		t.Fatal(err)
	}
	want := `chatId      state  reason   gateUntil  detail
1           open
7900000001  dead   blocked             Forbidden
2                           later
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
