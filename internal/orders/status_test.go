package orders_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"notifier/internal/orders"
)

// allowed is the picture of the statuses, drawn a second time: from the row to the column.
var allowed = map[orders.Status]string{
	//                 placed paid ready shipped delivered canceled refunded
	orders.Placed:    "same   yes  yes   yes     yes       yes      no",
	orders.Paid:      "no     same yes   yes     yes       yes      yes",
	orders.Ready:     "no     no   same  yes     yes       yes      yes",
	orders.Shipped:   "no     no   no    same    yes       no       yes",
	orders.Delivered: "no     no   no    no      same      no       yes",
	orders.Canceled:  "no     no   no    no      no        same     yes",
	orders.Refunded:  "no     no   no    no      no        no       same",
}

func TestEveryPairOfStatuses(t *testing.T) {
	s := open(t, 0)
	for _, from := range orders.Statuses() {
		for i, to := range orders.Statuses() {
			id := orderIn(t, s, from)
			before := len(s.outbox.messages)
			_, changed, err := s.change(id, orders.Change{Status: to})
			var conflict *orders.StatusError
			got := "no"
			switch {
			case err == nil && changed:
				got = "yes"
			case err == nil:
				got = "same"
			case !errors.As(err, &conflict):
				t.Fatal(err)
			}
			if want := strings.Fields(allowed[from])[i]; got != want {
				t.Errorf("%s to %s: %s, want %s", from, to, got, want)
			}
			if told := len(s.outbox.messages) - before; (told == 1) != (got == "yes") {
				t.Errorf("%s to %s: %s, with %d messages", from, to, got, told)
			}
		}
	}
}

// orderIn places an order and brings it into a status by a way that is allowed.
func orderIn(t *testing.T, s *shop, status orders.Status) int64 {
	t.Helper()
	o, _, err := s.place(tea(""))
	if err != nil {
		t.Fatal(err)
	}
	way := []orders.Status{status}
	if status == orders.Refunded {
		way = []orders.Status{orders.Paid, orders.Refunded}
	}
	for _, step := range way {
		if _, _, err := s.change(o.ID, orders.Change{Status: step}); err != nil {
			t.Fatal(err)
		}
	}
	return o.ID
}

// Field case ID-6: repeats are no news, what comes too late is refused, what differs is told.
func TestID6RepeatedAndLateStatusChanges(t *testing.T) {
	s := open(t, 0)
	id := orderIn(t, s, orders.Placed)
	for _, step := range []struct {
		status orders.Status
		want   string
	}{
		{orders.Paid, "told"}, {orders.Paid, "no news"}, {orders.Shipped, "told"},
		{orders.Paid, "refused"}, {orders.Delivered, "told"}, {orders.Delivered, "no news"},
	} {
		_, changed, err := s.change(id, orders.Change{Status: step.status})
		got := map[bool]string{true: "told", false: "no news"}[changed]
		if err != nil {
			got = "refused"
		}
		if got != step.want {
			t.Errorf("%s: %s (%v), want %s", step.status, got, err, step.want)
		}
	}
	want := []string{"OrderPlaced", "OrderPaid", "OrderShipped", "OrderDelivered"}
	if diff := cmp.Diff(want, s.outbox.types()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestNewsAboutTheSameStatusIsToldOnce(t *testing.T) {
	s := open(t, 0)
	id := orderIn(t, s, orders.Placed)
	const first, second = "https://post.example/1", "https://post.example/2"
	steps := []struct {
		change  orders.Change
		changed bool
	}{
		{orders.Change{Status: orders.Shipped, Note: "by bike"}, true},
		{orders.Change{Status: orders.Shipped, TrackingURL: first}, true},
		{orders.Change{Status: orders.Shipped, TrackingURL: first}, false},
		{orders.Change{Status: orders.Shipped, Note: "by bike", TrackingURL: first}, false},
		{orders.Change{Status: orders.Shipped}, false},
		{orders.Change{Status: orders.Shipped, TrackingURL: second}, true},
		{orders.Change{Status: orders.Shipped, Note: "by van"}, true},
		{orders.Change{Status: orders.Delivered}, true},
	}
	for i, step := range steps {
		_, changed, err := s.change(id, step.change)
		if err != nil || changed != step.changed {
			t.Errorf("step %d: changed %v (%v), want %v", i, changed, err, step.changed)
		}
	}
	var got []string
	for _, m := range s.outbox.messages[1:] {
		p, ok := m.Payload.(orders.Payload)
		if !ok {
			t.Fatalf("payload is %T", m.Payload)
		}
		got = append(got, m.Type+"|"+p.Note+"|"+p.TrackingURL)
	}
	want := []string{
		"OrderShipped|by bike|",
		"OrderTracking|by bike|" + first,
		"OrderTracking|by bike|" + second,
		"OrderTracking|by van|" + second,
		"OrderDelivered||",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestChangeStatusOfNoOrder(t *testing.T) {
	s := open(t, 0)
	if _, _, err := s.change(42, orders.Change{Status: orders.Paid}); !errors.Is(err, orders.ErrNotFound) {
		t.Errorf("error is %v", err)
	}
}
