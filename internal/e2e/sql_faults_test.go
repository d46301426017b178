package e2e

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// door is a foreign program's connection to the database.
type door struct {
	t  *testing.T
	db *sql.DB
}

func (s *programEnv) door() door {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.database()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	s.t.Cleanup(func() { _ = db.Close() })
	return door{s.t, db}
}

func (d door) must(statement string, args ...any) {
	d.t.Helper()
	if _, err := d.db.Exec(statement, args...); err != nil {
		d.t.Fatalf("%s %v: %v", statement, args, err)
	}
}

// refused runs a statement that must fail with these words.
func (d door) refused(words, statement string, args ...any) {
	d.t.Helper()
	if _, err := d.db.Exec(statement, args...); err == nil || !strings.Contains(err.Error(), words) {
		d.t.Errorf("%s %v: %v, want %q", statement, args, err, words)
	}
}

func (d door) text(query string, args ...any) string {
	d.t.Helper()
	var v sql.NullString
	if err := d.db.QueryRow(query, args...).Scan(&v); err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	return v.String
}

// awaitRow waits until a message has ended.
func (d door) awaitRow(id any, state string) {
	d.t.Helper()
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) { // only asking shows it
		got := d.text("SELECT state FROM outbox WHERE id = ?", id)
		if got == state {
			return
		}
		if time.Now().After(late) {
			d.t.Fatalf("message %v is %s, not %s", id, got, state)
		}
	}
}

func TestD1AKnownKeyIsNeverSentAgain(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	v := s.serve()
	d := s.door()
	const columns = ` INTO outbox (idempotency_key, recipient, type, payload) VALUES ('k-1', '701', 'Text', '{"text":"once"}')`
	d.must(`INSERT` + columns)
	d.awaitRow(1, "sent")
	for _, again := range []string{`INSERT` + columns, `INSERT OR REPLACE` + columns, `REPLACE` + columns, `INSERT OR IGNORE` + columns,
		`INSERT` + columns + ` ON CONFLICT (idempotency_key) DO NOTHING`,
		`INSERT` + columns + ` ON CONFLICT (idempotency_key) DO UPDATE SET state = 'pending'`} {
		d.must(again)
	}
	d.refused("id: another row has it", `INSERT OR REPLACE INTO outbox (id, recipient, type, payload) VALUES (1, '701', 'Text', '{"text":"replaced"}')`)
	d.must(`INSERT INTO outbox (recipient, type, payload) VALUES ('702', 'Text', '{"text":"last"}')`)
	s.waitDelivered(2)
	if n := len(s.sandbox.Messages()); n != 2 {
		t.Errorf("%d delivered", n)
	}
	if got := d.text(`SELECT count(*) || payload FROM outbox WHERE idempotency_key = 'k-1'`); got != `1{"text":"once"}` {
		t.Errorf("rows with the key: %s", got)
	}
	if err := v.stop(); err != nil {
		t.Error(err)
	}
}

func TestD2TimesAreMillisecondsOf13Digits(t *testing.T) {
	t.Parallel()
	d := newProgramEnv(t).door()
	for _, column := range []string{"not_before", "expires_at", "created_at"} {
		insert := `INSERT INTO outbox (recipient, type, payload, ` + column + `) VALUES ('701', 'Text', '{"text":"x"}', ?)`
		for _, value := range []any{1764500000, 999999999999, 10000000000000, int64(9223372036854775807), -1, 0, 1764500000000.5, "tomorrow", "", []byte("1764500000000")} {
			d.refused(column+": milliseconds since 1970", insert, value)
		}
		d.must(insert, 1000000000000)
		d.must(insert, 9999999999999)
		d.must(insert, "1764500000000") // a number in quotes is one to SQLite
	}
}

// Every column gets every kind of value: it is refused by the column's name, or taken; nothing of it
// stops the sender.
func TestD3WrongValuesInAnyColumnAreRefusedByName(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_RATE_BOT=1000", "NOTIFIER_RATE_CHAT=1000")
	v := s.serve()
	d := s.door()
	rows, err := d.db.Query(`SELECT name FROM pragma_table_info('outbox')`)
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, name)
	}
	_ = rows.Close()
	values := []any{"", " ", "text", 1.5, 1e300, -1, 0, 1, 2, 3, int64(1) << 53, int64(9223372036854775807), []byte("blob"), []byte{0}, "\xff", "x\x00y",
		nil, "pending", "sending", "sent", "dead", "canceled", "uncertain", "expired", "701", 1764500000000, "{}", `{"text":""}`, `{"html":"<b>"}`}
	taken := 0
	for _, column := range columns {
		row := map[string]any{"recipient": "701", "type": "Text", "payload": `{"text":"x"}`}
		for _, value := range values {
			row[column] = value
			var names, marks []string
			var args []any
			for name, v := range row {
				names, marks, args = append(names, name), append(marks, "?"), append(args, v)
			}
			_, err := d.db.Exec(`INSERT INTO outbox (`+strings.Join(names, ", ")+`) VALUES (`+strings.Join(marks, ", ")+`)`, args...)
			if err == nil {
				taken++
			} else if !namesAColumn(err.Error(), columns) {
				t.Errorf("%s = %v: %v", column, value, err)
			}
		}
	}
	d.must(`INSERT INTO outbox (idempotency_key, recipient, type, payload) VALUES ('good', '999', 'Text', '{"text":"good"}')`)
	for late := time.Now().Add(30 * time.Second); d.text(`SELECT state FROM outbox WHERE idempotency_key = 'good'`) != "sent"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("beside %d odd rows a good one is not sent\n%s", taken, v.log)
		}
	}
	for _, path := range []string{"/messages?limit=500", "/readyz", "/chats", "/sender"} {
		if status, _, err := v.get(path); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d, %v", path, status, err)
		}
	}
	if err := v.stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, v.log)
	}
}

func namesAColumn(words string, columns []string) bool {
	for _, c := range columns {
		if strings.Contains(words, c) {
			return true
		}
	}
	return false
}

func TestD4AnUnknownChannelIsRefusedAndAnUnservedOneCounted(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	d := s.door()
	const insert = `INSERT INTO outbox (recipient, type, payload, channel) VALUES ('701', 'Text', '{"text":"x"}', ?)`
	for _, channel := range []string{"Telegram", "telegram ", " telegram", "TELEGRAM", "sms", ""} {
		d.refused("channel: ", insert, channel)
	}
	d.must(insert, "telegram")
	d.must(`INSERT INTO notifier_channels (name) VALUES ('pager')`) // once served, and no more
	for range 3 {
		d.must(insert, "pager")
	}
	out, err := s.command("doctor").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `3 for "pager"`) {
		t.Errorf("the doctor: %v\n%s", err, out)
	}
	v := s.serve()
	s.waitDelivered(1)
	if _, body, err := v.get("/readyz"); err != nil || !strings.Contains(fmt.Sprint(body), "channel_unserved") {
		t.Errorf("/readyz: %v, %v", body, err)
	}
}

func TestD5AnIdNearTheEndLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	d := s.door()
	const insert = `INSERT INTO outbox (id, recipient, type, payload) VALUES (?, '701', 'Text', '{"text":"x"}')`
	for _, id := range []int64{9223372036854775807, 1 << 53, 1<<53 - 1, 1 << 52, 0, -1, -9223372036854775808} {
		d.refused("id: ", insert, id)
	}
	d.must(insert, 1000)
	v := s.serve()
	if !v.takes("A-1") {
		t.Error("an order is not taken")
	}
}

func TestD6WhatCannotBeSentIsNamed(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	d := s.door()
	const insert = `INSERT INTO outbox (recipient, type, payload) VALUES ('701', ?, ?)`
	d.must(insert, "Txt", `{"text":"Anna"}`)
	d.must(insert, "Text", `{}`)
	d.must(insert, "Text", `{"html":"<b>Anna"}`)
	v := s.serve()
	for id := range 3 {
		d.awaitRow(id+1, "dead")
	}
	for late := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) { // /readyz keeps what it found for a second
		_, body, err := v.get("/readyz")
		words := fmt.Sprint(body)
		if err == nil && strings.Contains(words, "1, 2, 3; `notifier message show 3` says why") {
			if strings.Contains(words, "Anna") {
				t.Errorf("a customer's text is in %s", words)
			}
			break
		}
		if time.Now().After(late) {
			t.Fatalf("/readyz: %s, %v", words, err)
		}
	}
	if n := len(s.sandbox.Calls()); s.inTheAir() != 0 || len(s.sandbox.Messages()) != 0 {
		t.Errorf("%d calls", n)
	}
	if out, err := s.command("doctor").CombinedOutput(); err == nil || !strings.Contains(string(out), "notifier message show 3") {
		t.Errorf("the doctor: %v\n%s", err, out)
	}
}

// SQLite before 3.32 shows a CHECK the value as it is bound, before the column's affinity makes it a
// text. A column without affinity shows this SQLite the same; TestTheOldestSQLite… runs the old one.
func TestD7ARecipientBoundAsAnIntegerIsTaken(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	d := s.door()
	schema := d.text(`SELECT sql FROM sqlite_master WHERE name = 'outbox'`)
	old, err := sql.Open("sqlite", filepath.Join(s.dir, "old.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close() //nolint:errcheck // a test
	for _, column := range []string{"idempotency_key", "recipient", "type", "subject", "collapse_key", "detail", "address"} {
		schema = regexp.MustCompile(`(\n +`+column+` +)TEXT `).ReplaceAllString(schema, "$1")
	}
	if _, err := old.Exec(schema); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO outbox (idempotency_key, recipient, type, payload, subject, collapse_key) VALUES (?, ?, ?, '{"text":"x"}', ?, ?)`
	for _, db := range []door{{t, old}, d} {
		db.must(insert, 17, int64(7900000001), 5, 6, 7)
		db.must(insert, 18, int64(-1001234567890), "Text", nil, nil)
		db.refused("recipient: ", insert, 19, 0, "Text", nil, nil)
		db.refused("recipient: ", insert, 19, int64(1)<<53, "Text", nil, nil)
		db.refused("recipient: ", insert, 19, 7900000001.5, "Text", nil, nil)
	}
	if kind := (door{t, old}).text(`SELECT typeof(recipient) FROM outbox LIMIT 1`); kind != "integer" {
		t.Errorf("the column that should have no affinity holds a %s", kind)
	}
	s.serve()
	s.waitDelivered(1)
}
