package outbox

import (
	"fmt"

	"notifier/internal/database"
)

// Unserved is how many messages wait for another channel than this, by the name of the channel. Nobody
// takes them in as long as nobody serves it.
func (o *Outbox) Unserved(tx database.Tx) (map[string]int, error) {
	// Two ranges of the index, so that this channel's own arrivals are not walked.
	const count = `SELECT channel, count(*) FROM outbox INDEXED BY outbox_arrivals WHERE address IS NULL AND channel `
	found := map[string]int{}
	err := each(tx, func(row database.Row) error {
		var channel string
		var n int
		err := row.Scan(&channel, &n)
		found[channel] = n
		return err
	}, count+`< ?1 GROUP BY channel UNION ALL `+count+`> ?1 GROUP BY channel`, o.channel)
	if err != nil {
		return nil, fmt.Errorf("count what nobody serves: %w", err)
	}
	return found, nil
}
