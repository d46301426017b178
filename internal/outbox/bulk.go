package outbox

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// Bulk chooses what an action is for: whatever is in a state, and has the reason and has been so
// since the instant, where they are given.
type Bulk struct {
	State  string // of messages: dead, uncertain or canceled; of recipients: dead or doubtful
	Reason string
	Since  time.Time
	DryRun bool // only count
}

// retryable chooses messages that Retry would take without force.
const retryable = `channel = ?1 AND state = ?2 AND state IN ('dead', 'uncertain', 'canceled')
	AND (?3 = '' OR reason = ?3) AND ended_at >= ?4 AND blanked_at IS NULL
	AND (expires_at IS NULL OR expires_at > ?5)
	AND NOT EXISTS (SELECT 1 FROM outbox later WHERE later.subject = outbox.subject
		AND later.channel = outbox.channel AND later.id > outbox.id AND later.state = 'sent')
	AND NOT EXISTS (SELECT 1 FROM notifier_recipients r LEFT JOIN notifier_recipients root
		ON root.channel = r.channel AND root.address = coalesce(r.alias_of, r.address)
		WHERE r.channel = outbox.channel AND r.address = outbox.recipient AND root.state = 'dead')`

// RetryAll retries all messages that are chosen and that Retry would take without force, and
// returns their number.
func (o *Outbox) RetryAll(tx database.Tx, now time.Time, b Bulk) (int, error) {
	args := []any{o.channel, b.State, b.Reason, sinceMillis(b.Since), now.UnixMilli()}
	if b.DryRun {
		return o.count(tx, `SELECT count(*) FROM outbox WHERE `+retryable, args...)
	}
	mark, err := o.nextMark(tx)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(`INSERT INTO notifier_recipients (channel, address, mark)
		SELECT DISTINCT channel, recipient, ?6 FROM outbox WHERE `+retryable+`
		ON CONFLICT (channel, address) DO UPDATE SET mark = excluded.mark`, append(args, mark)...)
	if err != nil {
		return 0, fmt.Errorf("mark the recipients of messages to retry: %w", err)
	}
	res, err := tx.Exec(`UPDATE outbox SET state = 'pending', reason = NULL, ended_at = NULL, failures = 0,
			doubts = 0, plain = 0, retry_at = NULL, retry_wait = NULL, sent_to = NULL, age_from = ?5
		WHERE `+retryable, args...)
	if err != nil {
		return 0, fmt.Errorf("retry messages: %w", err)
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// revivable chooses recipients that Revive would take.
const revivable = `channel = ?1 AND alias_of IS NULL AND state = ?2 AND state IN ('dead', 'doubtful')
	AND (?3 = '' OR reason = ?3) AND coalesce(reason, '') <> 'stopped' AND since >= ?4`

// ReviveAll revives all recipients that are chosen, those that asked us to stop aside, and
// returns their number.
func (o *Outbox) ReviveAll(tx database.Tx, b Bulk) (int, error) {
	args := []any{o.channel, b.State, b.Reason, sinceMillis(b.Since)}
	if b.DryRun {
		return o.count(tx, `SELECT count(*) FROM notifier_recipients WHERE `+revivable, args...)
	}
	mark, err := o.nextMark(tx)
	if err != nil {
		return 0, err
	}
	res, err := tx.Exec(`UPDATE notifier_recipients SET state = 'open', reason = NULL, detail = NULL, since = NULL,
			doubt_step = 0, doubt_until = NULL, doubt_wait = NULL, epoch = epoch + 1, mark = ?5
		WHERE `+revivable, append(args, mark)...)
	if err != nil {
		return 0, fmt.Errorf("revive recipients: %w", err)
	}
	n, err := res.RowsAffected()
	return int(n), err
}

func (o *Outbox) count(tx database.Tx, query string, args ...any) (n int, err error) {
	if err := tx.QueryRow(query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return n, nil
}

func sinceMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
