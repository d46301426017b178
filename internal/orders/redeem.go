package orders

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"notifier/internal/database"
)

// Redeemed is what came of a token.
type Redeemed string

// What can come of a token. Whoever has a wrong one is not told what is wrong with it.
const (
	RedeemedNow     Redeemed = "now"       // the chat is the customer's from now on
	RedeemedBefore  Redeemed = "before"    // it was used before, by this very chat, which still is the customer's
	RedeemedNot     Redeemed = "not"       // it is unknown, used or too old
	RedeemedTooMany Redeemed = "throttled" // this chat has guessed too often: the token was not looked at
)

const (
	// maxGuesses is how many unknown tokens a chat may try within guessWindow of the first.
	maxGuesses  = 5
	guessWindow = time.Hour
)

// Redeem makes a private chat the chat of the customer that a token was made for. The token is used
// up by it. An earlier chat of the customer's is replaced and not told.
func (b *Book) Redeem(tx database.Tx, now time.Time, token string, chatID int64) (customerID string, r Redeemed, err error) {
	chat := strconv.FormatInt(chatID, 10)
	tooMany, err := guessedOften(tx, now, chat)
	if err != nil {
		return "", "", fmt.Errorf("redeem a token: %w", err)
	}
	if tooMany {
		return "", RedeemedTooMany, nil
	}
	l, err := findLink(tx, token)
	if errors.Is(err, sql.ErrNoRows) {
		if err := countGuess(tx, now, chat); err != nil {
			return "", "", fmt.Errorf("redeem a token: %w", err)
		}
		return "", RedeemedNot, nil
	}
	if err != nil {
		return "", "", fmt.Errorf("redeem a token: %w", err)
	}
	switch {
	case l.used:
		return b.redeemedBefore(tx, l.customer, chat)
	case !l.expires.After(now):
		return "", RedeemedNot, nil
	}
	if err := b.use(tx, now, token, l.customer, chatID); err != nil {
		return "", "", fmt.Errorf("redeem a token: %w", err)
	}
	return l.customer, RedeemedNow, nil
}

// redeemedBefore lets somebody press Start twice.
func (b *Book) redeemedBefore(tx database.Tx, customerID, chat string) (string, Redeemed, error) {
	has, err := b.outbox.Resolve(tx, Recipient(customerID))
	if err != nil {
		return "", "", err
	}
	is, err := b.outbox.Resolve(tx, chat)
	if err != nil || has != is {
		return "", RedeemedNot, err
	}
	return customerID, RedeemedBefore, nil
}

func (b *Book) use(tx database.Tx, now time.Time, token, customerID string, chatID int64) error {
	_, err := tx.Exec(`UPDATE notifier_links SET used_at = ? WHERE token_hash = ?`, now.UnixMilli(), hashOf(token))
	if err != nil {
		return fmt.Errorf("use it up: %w", err)
	}
	_, err = tx.Exec(`DELETE FROM notifier_guesses WHERE chat = ?`, strconv.FormatInt(chatID, 10))
	if err != nil {
		return fmt.Errorf("forget guesses: %w", err)
	}
	return b.Bind(tx, now, customerID, chatID)
}

// link is a stored invitation.
type link struct {
	customer string
	expires  time.Time
	used     bool
}

// findLink looks a token up. Its error is sql.ErrNoRows when there is none, which for a text that
// no token can be is known without looking.
func findLink(tx database.Tx, token string) (link, error) {
	if !tokenSyntax.MatchString(token) {
		return link{}, sql.ErrNoRows
	}
	var l link
	var expires int64
	var used sql.NullInt64
	err := tx.QueryRow(`SELECT customer_id, expires_at, used_at FROM notifier_links WHERE token_hash = ?`,
		hashOf(token)).Scan(&l.customer, &expires, &used)
	l.expires, l.used = time.UnixMilli(expires), used.Valid
	return l, err
}

// guessedOften says whether a chat has used up its guesses.
func guessedOften(tx database.Tx, now time.Time, chat string) (bool, error) {
	var failures int
	err := tx.QueryRow(`SELECT failures FROM notifier_guesses WHERE chat = ? AND since > ? AND since <= ?`,
		chat, now.Add(-guessWindow).UnixMilli(), now.UnixMilli()).Scan(&failures)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("count guesses: %w", err)
	}
	return failures >= maxGuesses, nil
}

// countGuess counts a wrong token, from anew when the first was long ago. Rows of others that are
// over are cleared away with it.
func countGuess(tx database.Tx, now time.Time, chat string) error {
	ms, over := now.UnixMilli(), now.Add(-guessWindow).UnixMilli()
	_, err := tx.Exec(`DELETE FROM notifier_guesses WHERE since <= ? OR since > ?`, over, ms)
	if err != nil {
		return fmt.Errorf("forget guesses: %w", err)
	}
	_, err = tx.Exec(`INSERT INTO notifier_guesses (chat, since, failures) VALUES (?, ?, 1)
		ON CONFLICT (chat) DO UPDATE SET failures = notifier_guesses.failures + 1`, chat, ms)
	if err != nil {
		return fmt.Errorf("count a guess: %w", err)
	}
	return nil
}
