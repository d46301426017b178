package orders

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// Customer is who orders belong to. Only the shop knows more about them.
type Customer struct {
	ID     string
	Name   string
	Locale string
}

// Mention is what a request says about a customer. Empty fields say nothing.
type Mention struct {
	ID     string
	Name   string
	Locale string
	ChatID int64 // binds the customer to this chat
}

// Recipient is what the outbox calls the customer with this id, wherever their chat is.
func Recipient(customerID string) string { return outbox.AliasPrefix + customerID }

// EnsureCustomer makes sure that the customer exists.
func (b *Book) EnsureCustomer(tx database.Tx, now time.Time, m Mention) error {
	_, err := b.ensureCustomer(tx, now, m)
	return err
}

// Bind makes a chat the customer's. An earlier chat of theirs is replaced, and what waits for
// them goes to the new one.
func (b *Book) Bind(tx database.Tx, now time.Time, customerID string, chatID int64) error {
	_, err := b.ensureCustomer(tx, now, Mention{ID: customerID, ChatID: chatID})
	return err
}

// ensureCustomer creates the customer at the first mention, and takes over what is new in later ones.
func (b *Book) ensureCustomer(tx database.Tx, now time.Time, m Mention) (Customer, error) {
	c := Customer{ID: m.ID}
	err := tx.QueryRow(`INSERT INTO notifier_customers (id, name, locale, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET
			name   = CASE WHEN excluded.name   = '' THEN notifier_customers.name   ELSE excluded.name   END,
			locale = CASE WHEN excluded.locale = '' THEN notifier_customers.locale ELSE excluded.locale END
		RETURNING name, locale`,
		m.ID, m.Name, m.Locale, now.UnixMilli()).Scan(&c.Name, &c.Locale)
	if err != nil {
		return Customer{}, fmt.Errorf("store customer %s: %w", m.ID, err)
	}
	if m.ChatID == 0 {
		return c, nil
	}
	if err := b.bind(tx, now, m.ID, strconv.FormatInt(m.ChatID, 10)); err != nil {
		return Customer{}, fmt.Errorf("bind customer %s: %w", m.ID, err)
	}
	return c, nil
}

// bind links customer and chat, unless they are linked already: the shop may send the chat with
// every order, and a link wakes what waited for it.
func (b *Book) bind(tx database.Tx, now time.Time, customerID, chat string) error {
	has, err := b.outbox.Resolve(tx, Recipient(customerID))
	if err != nil {
		return err
	}
	// The chat may have moved since the shop learned its id.
	wanted, err := b.outbox.Resolve(tx, chat)
	if err != nil {
		return err
	}
	if has != "" && has == wanted {
		return nil
	}
	return b.outbox.Link(tx, now, Recipient(customerID), chat)
}

func customer(tx database.Tx, id string) (Customer, error) {
	c := Customer{ID: id}
	err := tx.QueryRow("SELECT name, locale FROM notifier_customers WHERE id = ?", id).Scan(&c.Name, &c.Locale)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Customer{}, fmt.Errorf("read customer %s: %w", id, err)
	}
	return c, nil
}

// CustomerOf is the customer in a recipient of Recipient, or empty when it is none.
func CustomerOf(recipient string) string {
	id, found := strings.CutPrefix(recipient, outbox.AliasPrefix)
	if !found {
		return ""
	}
	return id
}
