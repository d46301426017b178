package orders_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/database/plans"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

// After Forget, nothing in the file tells who the customer was.
func TestForgetLeavesNumbersAndNobody(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := database.Open(ctx, path, notifier.Schema, notifier.SchemaVersion, plans.Log())
	if err != nil {
		t.Fatal(err)
	}
	box := outbox.New("telegram", outbox.Policy{TTL: time.Hour, UnlinkedTTL: time.Hour, MaxAttempts: 8})
	book := orders.New(box, 0)
	write := func(fn func(tx database.Tx) error) {
		t.Helper()
		if err := db.Write(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	var order orders.Order
	write(func(tx database.Tx) error {
		total := int64(2500)
		order, _, err = book.Place(tx, now, orders.NewOrder{
			Number: "A-1", Currency: "EUR", TotalCents: total, Note: "Annas-note",
			Items:    []orders.Item{{Name: "Annas-tea", Quantity: 1, UnitPriceCents: 2500}},
			Customer: orders.Mention{ID: "c-17", Name: "Anna-Schmidt", Locale: "de", ChatID: 7900000001},
		})
		return err
	})
	write(func(tx database.Tx) error {
		_, err := box.Enqueue(tx, now, outbox.NewMessage{Recipient: "7900000001", Type: "Text", Payload: map[string]string{"text": "Annas-text"}})
		return err
	})
	var f orders.Forgotten
	write(func(tx database.Tx) error {
		if n, err := book.ForgetOrders(tx, "c-17", 10); n != 1 || err != nil {
			t.Errorf("the texts of %d orders were erased, %v", n, err)
		}
		f, err = book.Forget(tx, now, "c-17")
		return err
	})
	if f.Orders != 1 || f.Messages != 2 {
		t.Errorf("it erased %+v", f)
	}
	write(func(tx database.Tx) error {
		o, err := book.Order(tx, order.ID)
		if err == nil && (o.Number != "A-1" || o.TotalCents != 2500 || o.CustomerID != "c-17") {
			t.Errorf("the order is %+v", o)
		}
		return err
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Anna", "7900000001"} {
		if bytes.Contains(content, []byte(text)) {
			t.Errorf("the database still knows %q", text)
		}
	}
}
