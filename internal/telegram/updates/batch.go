package updates

import (
	"bytes"
	"encoding/json"

	"notifier/internal/telegram"
)

// batchOf takes the updates out of an answer of getUpdates. Of an answer that is cut, and of one
// that is broken somewhere, the whole updates before that place are taken. When the first one is
// already broken, or longer than all that is read, it is taken as far as it goes: it will be
// unreadable, but its id may be found, and without that it would come again for ever. ok is false
// when this is no answer of getUpdates at all.
func batchOf(r telegram.Reply) (list []json.RawMessage, ok bool) {
	if !r.OK {
		return nil, false
	}
	if r.Result != nil {
		if err := json.Unmarshal(r.Result, &list); err == nil {
			return list, true
		}
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(r.Body))
	if !findResult(d) {
		return nil, false
	}
	end := d.InputOffset()
	for d.More() {
		var one json.RawMessage
		if d.Decode(&one) != nil {
			break
		}
		list = append(list, one)
		end = d.InputOffset()
	}
	if len(list) == 0 && r.TooLong {
		list = append(list, r.Body[end:])
	}
	return list, len(list) > 0
}

// findResult moves d behind the bracket of the list that is the member "result".
func findResult(d *json.Decoder) bool {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return false
		}
		if name == "result" {
			t, err := d.Token()
			return err == nil && t == json.Delim('[')
		}
		var other json.RawMessage
		if d.Decode(&other) != nil {
			return false
		}
	}
	return false
}
