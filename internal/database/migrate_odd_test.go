package database

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// odd is a value that version 2 took and version 3 refuses: what an INSERT gives for a column, what
// the column is afterwards, and what is kept of the value in detail.
type odd struct {
	column, value string
	left          any
	kept          string
}

var long = strings.Repeat("x", 301)

var odds = []odd{
	{"idempotency_key", "x'6b65792d39'", nil, "idempotency_key: key-9"},
	{"recipient", "'customer:a' || char(0) || 'b'", "customer:(unreadable)", `recipient: "customer:a\u0000b"`},
	{"type", "x'54657874'", "Unreadable", "type: Text"},
	{"payload", "x'7b2274657874223a2278227d'", "{}", `payload: {"text":"x"}`},
	{"subject", "x'6f72646572'", nil, "subject: order"},
	{"subject", "'" + long + "'", nil, "subject: " + long[:170]},
	{"collapse_key", "x'61'", nil, "collapse_key: a"},
	{"collapse_key", "'" + long + "'", nil, "collapse_key: " + long[:170]},
	{"not_before", "1764558000", nil, "not_before: 1764558000"},
	{"not_before", "-9223372036854775808", nil, "not_before: -9223372036854775808"},
	{"expires_at", "10000000000000", nil, "expires_at: 10000000000000"},
	{"expires_at", "0", nil, "expires_at: 0"},
	{"failures", "'many'", int64(0), "failures: many"},
	{"failures", "-1", int64(0), "failures: -1"},
	{"doubts", "1.5", int64(0), "doubts: 1.5"},
	{"plain", "2", int64(0), "plain: 2"},
	{"retry_at", "'soon'", nil, "retry_at: soon"},
	{"retry_at", "1764558000000.5", nil, "retry_at: 1764558000000.5"},
	{"retry_at", "-5", nil, "retry_at: -5"},
	{"retry_wait", "x'35'", nil, "retry_wait: 5"},
	{"retry_wait", "1e30", nil, "retry_wait: 1.0e+30"},
	{"age_from", "'then'", created, "age_from: then"},
	{"age_from", "99999999999999", created, "age_from: 99999999999999"},
	{"remote_id", "'none'", nil, "remote_id: none"},
	{"remote_id", "7.25", nil, "remote_id: 7.25"},
	{"channel", "'Telegram'", "telegram", "channel: Telegram"},
	{"channel", "x'74656c656772616d'", "telegram", "channel: telegram"},
	{"blanked_at", "'once'", asOf, "blanked_at: once"},
	{"created_at", "1764558000", asOf, "created_at: 1764558000"},
}

// These stand for the instant at which the migration began, and that of the message's creation.
const (
	asOf    = "as of the migration"
	created = "as of its creation"
)

// oddRow is a message with an odd value, in one of the states.
type oddRow struct {
	odd
	state string
}

// ends are the states of a message, and what says with each when and why it ended, and its detail.
var ends = map[string]string{
	"pending": "NULL, NULL, NULL", "sending": "NULL, NULL, 'before'", "sent": "1764558000001, NULL, NULL",
	"uncertain": "1764558000002, NULL, 'lost'", "dead": "1764558000003, 'expired', 'too late'",
}

// insertOdds inserts every odd value in every state; the ids are the rows' places from 1.
func insertOdds(t *testing.T, path string) (rows []oddRow) {
	t.Helper()
	for _, o := range odds {
		for _, state := range slices.Sorted(maps.Keys(ends)) {
			columns := map[string]string{"recipient": "'701'", "type": "'Text'", "payload": "'{}'"}
			columns[o.column] = o.value
			if o.column == "idempotency_key" { // which is unique
				columns[o.column] = fmt.Sprintf("x'6b65792d39%02x'", 0x31+len(rows))
			}
			names := slices.Sorted(maps.Keys(columns))
			var values []string
			for _, n := range names {
				values = append(values, columns[n])
			}
			rows = append(rows, oddRow{o, state})
			rawExec(t, path, fmt.Sprintf(`INSERT INTO outbox (id, state, ended_at, reason, detail, %s) VALUES (%d, '%s', %s, %s)`,
				strings.Join(names, ", "), len(rows), state, ends[state], strings.Join(values, ", ")))
		}
	}
	rawExec(t, path, `INSERT INTO notifier_attempts (channel, message_id, address, epoch, started_at)
		SELECT 'telegram', id, '701', 0, 1 FROM outbox WHERE state = 'sending'`)
	return rows
}

// An unfinished message ends where version 3 cannot read a value of it, since nobody knows what it
// should have done; one that had ended stays as it was. The value is cleared, and kept in detail.
func TestOddValuesAreClearedAndKept(t *testing.T) {
	path := oldFile(t, 2)
	rows := insertOdds(t, path)
	began := begin(t, path)
	migrate(t, path)
	raw := rawOpen(t, path)
	defer raw.Close() //nolint:errcheck // a test
	messages := readTable(t, raw, allMessages)
	for i, r := range rows {
		name := fmt.Sprintf("%s = %.40s, %s", r.column, r.value, r.state)
		m := messages[fmt.Sprint(i+1)]
		if m == nil {
			t.Errorf("%s: it is gone", name)
			continue
		}
		want := []any{r.state, m["reason"], m["ended_at"]}
		if r.state == "pending" || r.state == "sending" {
			want = []any{"dead", "rejected", began}
		}
		if got := []any{m["state"], m["reason"], m["ended_at"]}; !slices.Equal(got, want) {
			t.Errorf("%s: it is %v, want %v", name, got, want)
		}
		left := r.left
		switch left {
		case asOf:
			left = began
		case created:
			left = m["created_at"]
		}
		if m[r.column] != left {
			t.Errorf("%s: it is now %v, want %v", name, m[r.column], left)
		}
		checkKept(t, name, r, m["detail"])
	}
	if n := len(readTable(t, raw, `SELECT * FROM notifier_attempts WHERE result = 'open'`)); n != 0 {
		t.Errorf("%d attempts are open for messages that have ended", n)
	}
}

// checkKept fails the test unless the detail has what was cleared, and what it had before.
func checkKept(t *testing.T, name string, r oddRow, stored any) {
	t.Helper()
	detail, _ := stored.(string)
	if !strings.HasPrefix(detail, "values that cannot be read were cleared; "+r.kept) {
		t.Errorf("%s: the detail is %q", name, detail)
	}
	if (r.state == "sending") != strings.Contains(detail, "; a call was under way, so it may have arrived") {
		t.Errorf("%s: the detail says of the call: %q", name, detail)
	}
	for state, before := range map[string]string{"sending": "; before", "uncertain": "; lost", "dead": "; too late"} {
		if r.state == state && !strings.HasSuffix(detail, before) {
			t.Errorf("%s: the detail it had is gone: %q", name, detail)
		}
	}
}

func TestOddEndsAndDetails(t *testing.T) {
	path := oldFile(t, 2,
		`INSERT INTO outbox (id, recipient, channel, type, payload, state, ended_at, sent_to, detail) VALUES
			(1, '701', 'telegram', 'Text', '{}', 'sent', 'yesterday', '702', NULL),
			(2, '701', 'telegram', 'Text', '{}', 'sent', 1764558000000, x'373032', 'well'),
			(3, '701', 'telegram', 'Text', '{}', 'sent', -1, '', NULL),
			(4, 'someone', 'mail', 'Text', '{}', 'sent', 1764558000000, 'someone@', NULL),
			(5, 'someone', 'mail', 'Text', '{}', 'pending', NULL, NULL, NULL),
			(6, x'00ff', 'mail', 'Text', '{}', 'pending', NULL, NULL, NULL),
			(7, '701', 'telegram', 'Text', '{}', 'pending', NULL, NULL, x'626c6f62')`,
		`INSERT INTO outbox (id, recipient, type, payload, detail) VALUES (8, '701', 'Text', '{}', printf('%.*c', 5000, 'd'))`)
	began := begin(t, path)
	migrate(t, path)
	raw := rawOpen(t, path)
	defer raw.Close() //nolint:errcheck // a test
	const cleared = "values that cannot be read were cleared; "
	for id, want := range map[string][]any{
		"1": {"sent", "701", "702", began, cleared + "ended_at: yesterday"},
		"2": {"sent", "701", "701", int64(1764558000000), cleared + "sent_to: 702; well"},
		"3": {"sent", "701", "701", began, cleared + "sent_to: ; ended_at: -1"},
		"4": {"sent", "customer:(unreadable)", "someone@", int64(1764558000000), cleared + "channel: mail; recipient: someone"},
		"5": {"dead", "customer:(unreadable)", "customer:(unreadable)", began, cleared + "channel: mail; recipient: someone"},
		"6": {"dead", "customer:(unreadable)", "customer:(unreadable)", began, cleared + "channel: mail; recipient: \"\\u0000\xff\""},
		"7": {"pending", "701", "701", nil, "blob"},
		"8": {"pending", "701", "701", nil, strings.Repeat("d", 4000)},
	} {
		m := readTable(t, raw, allMessages)[id]
		if got := []any{m["state"], m["recipient"], m["address"], m["ended_at"], m["detail"]}; !slices.Equal(got, want) {
			t.Errorf("message %s is\n%q, want\n%q", id, got, want)
		}
	}
}

// An id that a JSON number cannot tell gets a new one, and takes its attempts along; no id is given twice.
func TestOddIDsAreReplaced(t *testing.T) {
	const insert = `INSERT INTO outbox (id, recipient, type, payload) VALUES (%s, '701', 'Text', '{}')`
	for _, c := range []struct {
		given   []string
		purged  string // ids that are gone before
		want    []int64
		attempt int64 // which has an attempt
		next    int64
	}{
		{given: []string{"5", "NULL"}, purged: "id = 6", want: []int64{5}, next: 7},
		{given: []string{"5", "9"}, purged: "id > 0", want: nil, next: 10},
		{given: []string{"5", "0", "-7"}, purged: "0", want: []int64{5, 6, 7}, attempt: -7, next: 8},
		{given: []string{"-9223372036854775808"}, purged: "0", want: []int64{1}, attempt: -9223372036854775808, next: 2},
		{given: []string{"17", "9007199254740992", "NULL", "9223372036854775807"}, purged: "0",
			want: []int64{17, 1000018, 1000019, 1000020}, attempt: 9223372036854775807, next: 1000021},
		{given: []string{"17", "9007199254740000"}, purged: "id > 17", want: []int64{17}, next: 1000018},
		{given: []string{"8999999999999999"}, purged: "0", want: []int64{8999999999999999}, attempt: 8999999999999999, next: 9000000000000000},
	} {
		path := oldFile(t, 2)
		for _, id := range c.given {
			rawExec(t, path, fmt.Sprintf(insert, id))
		}
		rawExec(t, path, "DELETE FROM outbox WHERE "+c.purged,
			fmt.Sprintf(`INSERT INTO notifier_attempts (channel, message_id, address, epoch, started_at, ended_at, result)
				SELECT 'telegram', id, '701', 0, 1, 2, 'uncertain' FROM outbox WHERE id = %d`, c.attempt))
		migrate(t, path)
		rawExec(t, path, `INSERT INTO outbox (recipient, type, payload) VALUES ('701', 'Text', '{}')`)
		raw := rawOpen(t, path)
		var ids []int64
		for _, m := range readTable(t, raw, allMessages) {
			ids = append(ids, number(m, "id"))
		}
		slices.Sort(ids)
		if !slices.Equal(ids, append(c.want, c.next)) {
			t.Errorf("%v became %v, want %v and %d", c.given, ids, c.want, c.next)
		}
		follow := readTable(t, raw, `SELECT m.id, m.detail, m.state FROM notifier_attempts a JOIN outbox m ON m.id = a.message_id`)
		if c.attempt != 0 && len(follow) != 1 {
			t.Errorf("%v: the attempt of %d belongs to %v", c.given, c.attempt, follow)
		}
		for _, m := range follow {
			kept := fmt.Sprintf("its id was %d before version 3", c.attempt)
			if replaced := number(m, "id") != c.attempt; replaced && m["detail"] != kept || m["state"] != "pending" {
				t.Errorf("%v: the message that was %d is %v", c.given, c.attempt, m)
			}
		}
		_ = raw.Close()
	}
}

// A recipient's row with values that version 2 let in loses these alone.
func TestOddRecipients(t *testing.T) {
	path := oldFile(t, 2,
		`INSERT INTO notifier_senders (channel, identity, gate_wait) VALUES ('telegram', '42', NULL)`,
		`INSERT INTO notifier_recipients (channel, address, alias_of, since, gate_until, gate_wait, flood_step, doubt_step, doubt_until, doubt_wait, epoch, accepted, spared)
			VALUES ('telegram', '701', NULL, 'x', 1.5, 'x', 'x', x'00', 'x', 'x', 0.5, 1, 1), ('telegram', 'customer:b', x'373031', 1, NULL, NULL, 1, 2, NULL, NULL, 3, 0, 7)`,
		`INSERT INTO outbox (recipient, type, payload, created_at) VALUES ('701', 'Text', '{}', 1764558000000), ('customer:b', 'Text', '{}', 1764558000000)`)
	migrate(t, path)
	raw := rawOpen(t, path)
	defer raw.Close() //nolint:errcheck // a test
	for key, want := range map[string][]any{
		"telegram 701":        {nil, nil, nil, int64(0), int64(0), int64(0), nil, int64(0), int64(0), "42", int64(1), int64(1764558000000), int64(1)},
		"telegram customer:b": {nil, int64(1), nil, int64(0), int64(1), int64(2), nil, int64(0), int64(3), nil, int64(0), nil, nil},
	} {
		r := readTable(t, raw, allRecipients)[key]
		var got []any
		for _, column := range []string{"alias_of", "since", "gate_until", "gate_wait", "flood_step", "doubt_step", "doubt_until",
			"doubt_wait", "epoch", "accepted_by", "spared", "turn_at", "head"} {
			got = append(got, r[column])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is\n%v, want\n%v", key, got, want)
		}
	}
	if m := readTable(t, raw, allMessages)["2"]; m["address"] != "customer:b" || m["hold"] != int64(2) {
		t.Errorf("the message to a customer whose chat cannot be read is %v", m)
	}
}
