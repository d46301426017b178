package conditions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

const (
	// unsendableFor is how long a message that could never be sent is told of.
	unsendableFor = 24 * time.Hour
	// unsendableNamed is how many of them are named.
	unsendableNamed = 5
)

// readMessages reads what is wrong with single messages.
func (f *facts) readMessages(tx database.Tx, box *outbox.Outbox, now time.Time) (err error) {
	if f.unserved, err = box.Unserved(tx); err != nil {
		return err
	}
	for _, reason := range []string{outbox.ReasonRejected, outbox.ReasonTemplateError} {
		last, err := box.Messages(tx, outbox.Filter{State: outbox.StateDead, Reason: reason, Limit: unsendableNamed})
		if err != nil {
			return err
		}
		for _, m := range last {
			if now.Sub(m.EndedAt) < unsendableFor {
				f.unsendable = append(f.unsendable, m.ID)
			}
		}
	}
	slices.Sort(f.unsendable)
	return nil
}

// unsendable names messages by their ids alone: their content, and Telegram's words about it, may be a
// customer's.
func unsendable(f facts) Condition {
	if len(f.unsendable) == 0 {
		return Condition{}
	}
	var ids []string
	for _, id := range f.unsendable[max(0, len(f.unsendable)-unsendableNamed):] {
		ids = append(ids, fmt.Sprint(id))
	}
	show := "notifier message show " + ids[len(ids)-1]
	return Condition{
		Code: Unsendable, Fix: show,
		Detail: fmt.Sprintf("messages that could not be sent as they were written, within 24 hours: %s; `%s` says why", strings.Join(ids, ", "), show),
	}
}

// unserved counts what waits for a channel that nobody serves.
func unserved(f facts) Condition {
	if len(f.unserved) == 0 {
		return Condition{}
	}
	var counts []string
	for _, channel := range slices.Sorted(maps.Keys(f.unserved)) {
		counts = append(counts, fmt.Sprintf("%d for %q", f.unserved[channel], channel))
	}
	return Condition{
		Code: Unserved, Fix: "notifier serve --print-config",
		Detail: "messages wait for channels that nobody serves: " + strings.Join(counts, ", "),
	}
}
