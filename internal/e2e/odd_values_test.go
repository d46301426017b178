package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// oddFor is how long odd values are made up; a minute finds more than the seconds of every run.
var oddFor = flag.Duration("odd", 10*time.Second, "how long to send odd bodies and rows")

// oddities makes up JSON that follows the API's own description, and now and then does not.
type oddities struct {
	random  *rand.Rand
	schemas map[string]any
}

// raw are values that are JSON and fit nowhere, or nearly.
var raw = []string{`null`, `true`, `""`, `" "`, `"\u0000"`, `"\ud800"`, `"\u202e"`, `0`, `-0`, `-1`, `1e400`, `1.5`, `9007199254740993`,
	`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `1e2`, `[]`, `{}`, `[[[[]]]]`, `{"":{}}`, `"701"`, `"1970-01-01T00:00:00Z"`,
	`"2286-11-20T17:46:39.999Z"`, `"9999-12-31T23:59:59Z"`, `"0000-01-01T00:00:00Z"`, `"2026-02-30T00:00:00Z"`, `"2030-01-01T00:00:00+23:59"`}

var texts = []string{"a", "Anna", "A-1", "<b>x</b>", "<b>", "&amp", "x\n\n", "\u200b", strings.Repeat("я", 300), strings.Repeat("x", 5000), "EUR", "XTR", "en", "ru-RU",
	"https://shop.example/1", "javascript:x", "customer:1", "Text", "OrderPlaced", "StaffOrderPlaced", "sent", "dead", "expired", "hold"}

func (o oddities) pick(list []string) string { return list[o.random.IntN(len(list))] }

// value makes up a value for a schema.
func (o oddities) value(schema map[string]any, depth int) string {
	if ref, ok := schema["$ref"].(string); ok {
		schema, _ = o.schemas[ref[strings.LastIndexByte(ref, '/')+1:]].(map[string]any)
	}
	if depth > 6 || o.random.IntN(12) == 0 {
		return o.pick(raw)
	}
	if words, ok := schema["enum"].([]any); ok {
		b, _ := json.Marshal(words[o.random.IntN(len(words))])
		return string(b)
	}
	kind := fmt.Sprint(schema["type"])
	switch {
	case strings.Contains(kind, "object"):
		return o.object(schema, depth)
	case strings.Contains(kind, "array"):
		items, _ := schema["items"].(map[string]any)
		var list []string
		for range o.random.IntN(4) {
			list = append(list, o.value(items, depth+1))
		}
		return "[" + strings.Join(list, ",") + "]"
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
		return fmt.Sprint(1 + o.random.IntN(900))
	case strings.Contains(kind, "boolean"):
		return o.pick([]string{"true", "false"})
	case schema["format"] == "date-time":
		at := time.UnixMilli(1_000_000_000_000 + o.random.Int64N(8_999_999_999_999)).UTC()
		return `"` + at.Format(time.RFC3339Nano) + `"`
	}
	b, _ := json.Marshal(o.pick(texts))
	return string(b)
}

func (o oddities) object(schema map[string]any, depth int) string {
	properties, _ := schema["properties"].(map[string]any)
	required := fmt.Sprint(schema["required"])
	var members []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		if strings.Contains(required, name) || o.random.IntN(3) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, o.value(property, depth+1)))
		}
	}
	if schema["additionalProperties"] == true || o.random.IntN(40) == 0 {
		for _, name := range []string{"text", "html", "number", "orderId", "totalCents", "currency", "items", "buttons"} {
			if o.random.IntN(4) == 0 {
				members = append(members, fmt.Sprintf("%q:%s", name, o.value(map[string]any{"type": o.pick([]string{"string", "integer", "array"})}, depth+1)))
			}
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// operation is one call that takes a body.
type operation struct {
	path   string
	schema map[string]any
}

// operations are all calls with a body, as the service describes itself.
func (v *service) operations() (list []operation, schemas map[string]any) {
	v.t.Helper()
	_, described, err := v.get("/openapi.json")
	if err != nil {
		v.t.Fatal(err)
	}
	components, _ := described["components"].(map[string]any)
	schemas, _ = components["schemas"].(map[string]any)
	paths, _ := described["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range []string{"post", "put"} {
			op, _ := paths[path].(map[string]any)[method].(map[string]any)
			body, _ := op["requestBody"].(map[string]any)
			content, _ := body["content"].(map[string]any)
			media, _ := content["application/json"].(map[string]any)
			if schema, ok := media["schema"].(map[string]any); ok {
				list = append(list, operation{path, schema})
			}
		}
	}
	if len(list) < 8 {
		v.t.Fatalf("only %d calls take a body: %v", len(list), list)
	}
	return list, schemas
}

// ask calls and checks what every answer must be: no failure of ours, and JSON to its end.
func (v *service) askOddly(method, path, body string) {
	v.t.Helper()
	r, err := http.NewRequest(method, v.url+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := browser.Do(r)
	if err != nil {
		v.t.Errorf("%s %s: %v", path, body, err)
		return
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 500 || !json.Valid(answer) || bytes.ContainsRune(answer, 0) {
		v.t.Errorf("%s %s: %d %v\n%.500s", path, body, response.StatusCode, err, answer)
	}
}

// Whatever a body or a row holds, the service answers in whole JSON and without a failure of its own, and
// the sender goes on.
func TestOddBodiesAndRowsStopNothing(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_RATE_BOT=1000", "NOTIFIER_RATE_CHAT=1000", "NOTIFIER_RATE_GROUP=1000", "NOTIFIER_STAFF_CHAT_ID=-100500")
	v := s.serve()
	v.awaitStatus("ok") // the bot's name is known
	d := s.door()
	operations, schemas := v.operations()
	seed := uint64(time.Now().UnixNano())                  //nolint:gosec // any number will do
	o := oddities{rand.New(rand.NewPCG(1, seed)), schemas} //nolint:gosec // a test
	bodies, rows := 0, 0
	for end := time.Now().Add(*oddFor); time.Now().Before(end) && !t.Failed(); bodies++ {
		op := operations[o.random.IntN(len(operations))]
		path := op.path
		for strings.Contains(path, "{") {
			from, to := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
			path = path[:from] + fmt.Sprint(1+o.random.IntN(50)) + path[to+1:]
		}
		if path != "/sender/pause" { // it would stop what is watched
			v.askOddly(http.MethodPost, path, o.value(op.schema, 0))
		}
		rows += d.oddRow(o)
		if bodies%50 == 0 {
			for _, path := range []string{"/messages?limit=500", "/orders?limit=500", "/chats?limit=500", "/readyz", "/sender"} {
				v.askOddly(http.MethodGet, path, "")
			}
		}
	}
	t.Logf("%d bodies, %d rows taken; the seed was %d", bodies, rows, seed)
	d.must(`INSERT INTO outbox (idempotency_key, recipient, type, payload) VALUES ('good', '999', 'Text', '{"text":"good"}')`)
	for late := time.Now().Add(30 * time.Second); d.text(`SELECT state FROM outbox WHERE idempotency_key = 'good'`) != "sent"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			_, sender, _ := v.get("/sender")
			t.Fatalf("a good message is not sent any more: %v\n%s", sender, v.log)
		}
	}
	if err := v.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if log := v.log.String(); strings.Contains(log, "unexpected error") || strings.Contains(log, "pass failed") {
		t.Errorf("the log says\n%s", log)
	}
}

// oddRow inserts a row whose columns hold something odd now and then. It says how many were taken.
func (d door) oddRow(o oddities) int {
	d.t.Helper()
	row := map[string]any{"recipient": fmt.Sprint(800 + o.random.IntN(50)), "type": o.pick(texts), "payload": o.value(map[string]any{"type": "object", "additionalProperties": true}, 0)}
	columns := []string{"idempotency_key", "recipient", "type", "payload", "channel", "subject", "collapse_key", "not_before", "expires_at", "on_uncertain", "rank",
		"created_at", "state", "reason", "detail", "address", "hold", "ready_at", "age_from", "failures", "doubts", "plain", "remote_id", "ended_at", "blanked_at"}
	odd := []any{nil, "", "x", 0, 1, 2, -1, 1.5, int64(1) << 60, []byte("x"), "\xff", "a\x00b", 1000000000000, 9999999999999, "customer:c", "order:1", "order:x", o.pick(texts)}
	for range o.random.IntN(4) {
		row[columns[o.random.IntN(len(columns))]] = odd[o.random.IntN(len(odd))]
	}
	var names, marks []string
	var values []any
	for name, value := range row {
		names, marks, values = append(names, name), append(marks, "?"), append(values, value)
	}
	_, err := d.db.Exec(`INSERT INTO outbox (`+strings.Join(names, ", ")+`) VALUES (`+strings.Join(marks, ", ")+`)`, values...)
	switch {
	case err == nil:
		return 1
	case strings.Contains(err.Error(), "locked"):
		d.t.Errorf("a foreign writer is starved: %v", err)
	}
	return 0
}
