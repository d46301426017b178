package plans

// exception allows a step of a statement's plan to which there is an objection.
type exception struct {
	table     string // whose rows are walked
	statement string // a part of it, with single spaces
	step      string // a part of the plan's step
	why       string
}

// Why a step that could walk over much does not.
const (
	firstRow = "min() or max() of the index's next column reads one row, at one end of the range"
	page     = "the range is exact and in the order of the index, so LIMIT ends the walk"
	newest   = "it walks back from the newest row until LIMIT"
	underWay = "only calls under way are in this partial index, as many as NOTIFIER_CONCURRENCY at most"
)

var exceptions = []exception{
	// What the sender asks in each round.
	{"outbox", "FROM outbox INDEXED BY outbox_arrivals", "outbox_arrivals (channel=?)", page},
	{"outbox", "FROM outbox INDEXED BY outbox_planned", "outbox_planned (channel=? AND ready_at<?)", page},
	{"outbox", "SELECT min(ready_at)", "outbox_planned (channel=?)", firstRow},
	{"outbox", "SELECT id FROM outbox INDEXED BY outbox_expires", "AND expires_at<?)", page},
	{"outbox", "SELECT min(expires_at)", "outbox_expires", firstRow},
	{"outbox", "SELECT id FROM outbox INDEXED BY outbox_age", "AND age_from<?)", page},
	{"outbox", "SELECT min(age_from)", "outbox_age (channel=? AND hold=?)", firstRow},
	{"notifier_recipients", "SELECT address, head, turn_at FROM", "notifier_recipients_turn", page + "; where only private chats are wanted, groups that are due are passed over"},
	{"notifier_recipients", "SELECT turn_at, pace_until FROM", "AND turn_at>?)", page},
	{"notifier_recipients", "SELECT min(turn_at)", "notifier_recipients_turn", firstRow},
	{"notifier_recipients", "SELECT count(*) FROM (SELECT 1 FROM notifier_recipients", "notifier_recipients_turn", page + ": it counts to 10,000"},

	// The reconciler.
	{"outbox", "SELECT (SELECT min(address) FROM outbox", "outbox_waiting (channel=? AND address>?)", firstRow},
	{"notifier_recipients", "SELECT (SELECT min(address) FROM outbox", "(channel=? AND address>?)", firstRow},

	// The start.
	{"notifier_attempts", "FROM notifier_attempts WHERE channel = ? AND id < ? ORDER BY id DESC LIMIT ?", "(rowid<?)", newest},
	{"notifier_attempts", "ORDER BY id DESC LIMIT 50", "SCAN notifier_attempts", newest},
	{"notifier_attempts", "ORDER BY id DESC LIMIT 200", "SCAN notifier_attempts", newest},
	{"notifier_attempts", "INDEXED BY notifier_attempts_open", "notifier_attempts_open (channel=?)", underWay},
	{"outbox", "SELECT id FROM outbox WHERE channel = ? AND state = 'sending' AND address IS NOT NULL ORDER BY id", "outbox_sending (channel=?", underWay},
	{"outbox", "SELECT id FROM outbox WHERE channel = ? AND state = 'sending' AND address IS NOT NULL ORDER BY id", "TEMP B-TREE", underWay},
	{"outbox", "SELECT EXISTS (SELECT 1 FROM (SELECT coalesce(ended_at", "outbox_age (channel=? AND hold=? AND age_from>?)", firstRow},
	{"notifier_recipients", "SELECT EXISTS (SELECT 1 FROM (SELECT coalesce(ended_at", "notifier_recipients_turn (channel=? AND turn_rank>?", "chats that wait for a gate or a back-off, read once at a start and after a step of the clock, beside readers"},

	// Lists.
	{"outbox", "AND id < ? AND reason = ?", "outbox_reason (channel=? AND reason=? AND id<?)", page},
	{"outbox", "AND id < ? AND state IN ('pending', 'sending') AND state = ?", "outbox_open", page + "; few of these are being sent"},
	{"outbox", "AND id < ? AND state = 'sent' AND state = ?", "outbox_sent (channel=? AND id<?)", page},
	{"outbox", "AND id < ? AND state = 'sending' AND state = ?", "outbox_sending (channel=?)", underWay},
	{"outbox", "AND id < ? AND state = 'sending' AND state = ?", "TEMP B-TREE", underWay},
	{"outbox", "AND id < ? AND state IN ('uncertain', 'dead', 'canceled') AND state = ?", "outbox_troubled", page},
	{"outbox", "FROM outbox WHERE id IN (SELECT id FROM (SELECT id", "AND id<?)", page},
	{"notifier_recipients", "AND alias_of IS NULL AND address > ?2", "(channel=? AND address>?", page + "; chats of other states are passed over, and chats that have moved"},
	{"notifier_recipients", "AND state = ?4 AND state IN ('doubtful', 'dead')", "notifier_recipients_state (channel=? AND state=? AND address>?", page},
	{"notifier_recipients", "SELECT max(gate_until)", "notifier_recipients_gate", firstRow},
	{"notifier_orders", "FROM notifier_orders WHERE 1 = 1 ORDER BY id DESC LIMIT ?", "SCAN notifier_orders", newest},
	{"notifier_orders", "FROM notifier_orders WHERE 1 = 1 AND id < ? ORDER BY id DESC LIMIT ?", "(rowid<?)", page},

	// Bulk actions.
	{"outbox", "INDEXED BY outbox_troubled", "outbox_troubled (channel=? AND state=? AND id>?)", page},
	{"outbox", "INDEXED BY outbox_reason", "outbox_reason (channel=? AND reason=? AND id>?)", page + "; a reason goes with one state, and nothing is asked for another"},

	// Retention, and its dry run.
	{"outbox", "SELECT id, ended_at, state FROM outbox INDEXED BY outbox_ended", "outbox_ended", page},
	{"outbox", "FROM outbox INDEXED BY outbox_blanked", "outbox_blanked", page},
	{"notifier_links", "SELECT token_hash FROM notifier_links WHERE expires_at <= ? LIMIT ?", "notifier_links_expires", page},
	{"notifier_links", "SELECT count(*) FROM notifier_links WHERE expires_at <= ?", "COVERING INDEX notifier_links_expires", "a person's dry run counts in the index alone, and ends with its context"},
	{"notifier_keys", "SELECT scope, key FROM notifier_keys WHERE created_at <= ? LIMIT ?", "notifier_keys_created", page},
	{"notifier_keys", "SELECT count(*) FROM notifier_keys WHERE created_at <= ?", "COVERING INDEX notifier_keys_created", "a person's dry run counts in the index alone, and ends with its context"},
	{"notifier_updates", "SELECT update_id FROM notifier_updates WHERE received_at <= ? ORDER BY received_at LIMIT ?", "notifier_updates_received", page},
	{"notifier_guesses", "DELETE FROM notifier_guesses WHERE since <= ? OR since > ?", "notifier_guesses_since", "each row is of a chat that guessed wrong within the last hour, and goes once"},
}
