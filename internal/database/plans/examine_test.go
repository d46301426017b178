package plans

import (
	"strings"
	"testing"
)

// What the examination is for: each of these statements was in the product once, or could be.
func TestExamineObjects(t *testing.T) {
	for query, want := range map[string]string{
		`SELECT id FROM outbox WHERE state = 'pending'`:                                                            "it scans outbox",
		`SELECT count(*) FROM outbox WHERE channel = ? AND reason IS NOT NULL`:                                     "it may walk over much of outbox",
		`SELECT id FROM outbox WHERE channel = ? AND id < ? ORDER BY id DESC LIMIT ?`:                              "it sorts",
		`SELECT id FROM outbox WHERE id > ? AND state = 'dead' LIMIT 5`:                                            "it may walk over much of outbox",
		`SELECT m.id FROM outbox AS m WHERE m.detail = ?`:                                                          "it scans outbox",
		`SELECT address FROM notifier_recipients WHERE channel = ? AND alias_of = ? ORDER BY address`:              "",
		`UPDATE notifier_recipients SET spared = 0`:                                                                "it scans notifier_recipients",
		`DELETE FROM notifier_keys WHERE body = ?`:                                                                 "it scans notifier_keys",
		`SELECT o.id FROM notifier_orders o JOIN notifier_customers c ON c.name = o.note WHERE o.id = ?`:           "it scans notifier_customers",
		`SELECT message_id, count(*) FROM notifier_attempts WHERE message_id IN (?, ?) GROUP BY address`:           "it sorts",
		`SELECT kind, n FROM notifier_counts ORDER BY n`:                                                           "",
		`SELECT id FROM notifier_attempts WHERE message_id = ? ORDER BY id`:                                        "",
		`INSERT INTO notifier_keys SELECT scope, key, hash, status, location, body, created_at FROM notifier_keys`: "it scans notifier_keys",
	} {
		complaints, err := examine([]string{query}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(complaints, "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s\n\tis met by %q, want %q", query, got, want)
		}
	}
}

func TestExamineNamesAnIndexThatNothingUses(t *testing.T) {
	complaints, err := examine([]string{`SELECT id FROM notifier_orders WHERE customer_id = ? ORDER BY id`},
		[]string{"notifier_orders", "notifier_updates"}, true)
	got := strings.Join(complaints, "\n")
	if err != nil || !strings.Contains(got, "notifier_updates_received") || strings.Contains(got, "notifier_orders_customer") {
		t.Errorf("%v, %s", err, got)
	}
}

func TestExamineReadsTheTriggers(t *testing.T) {
	if _, err := examine(nil, nil, false); err != nil {
		t.Error(err)
	}
}
