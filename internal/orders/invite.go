package orders

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"time"

	"notifier/internal/database"
)

const (
	// tokenBytes of randomness are in a token: 192 bits, 32 characters.
	tokenBytes = 24
	// inviteFor is how long an invitation is good.
	inviteFor = 7 * 24 * time.Hour
)

// Invitation lets the person who has it become a customer's Telegram chat, once.
type Invitation struct {
	// Token is nowhere else: only its hash is stored. It has 32 of the characters that a start
	// parameter may have, which are A-Z, a-z, 0-9, _ and -, 64 at most
	// (https://core.telegram.org/bots/features#deep-linking).
	Token     string
	ExpiresAt time.Time
}

// Invite makes an invitation for a customer, who is created at the first mention. Earlier ones stay
// good.
func (b *Book) Invite(tx database.Tx, now time.Time, customerID string) (Invitation, error) {
	if err := b.EnsureCustomer(tx, now, Mention{ID: customerID}); err != nil {
		return Invitation{}, fmt.Errorf("invite customer %s: %w", customerID, err)
	}
	_, err := tx.Exec(`DELETE FROM notifier_links WHERE customer_id = ? AND `+isOld,
		customerID, oldAt(now))
	if err != nil {
		return Invitation{}, fmt.Errorf("invite customer %s: forget old invitations: %w", customerID, err)
	}
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // it never fails, says crypto/rand
	i := Invitation{
		Token:     base64.RawURLEncoding.EncodeToString(random),
		ExpiresAt: now.Add(inviteFor).UTC().Truncate(time.Millisecond),
	}
	_, err = tx.Exec(`INSERT INTO notifier_links (token_hash, customer_id, created_at, expires_at) VALUES (?, ?, ?, ?)`,
		hashOf(i.Token), customerID, now.UnixMilli(), i.ExpiresAt.UnixMilli())
	if err != nil {
		return Invitation{}, fmt.Errorf("invite customer %s: %w", customerID, err)
	}
	return i, nil
}

// ConnectURL is the address behind which a customer finds the bot with this name (without @) and
// its Start button, which gives the bot the token. It is empty as long as the name is not known.
func ConnectURL(username, token string) string {
	if username == "" {
		return ""
	}
	return "https://t.me/" + username + "?start=" + token
}

// Linked says whether the customer has a chat.
func (b *Book) Linked(tx database.Tx, customerID string) (bool, error) {
	address, err := b.outbox.Resolve(tx, Recipient(customerID))
	return address != "", err
}

// tokenSyntax is what Telegram lets through as a start parameter. Anything else was typed.
var tokenSyntax = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
