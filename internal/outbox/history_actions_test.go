package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"notifier/internal/database"
)

// action is one thing that can happen in a history.
type action struct {
	weight int
	do     func(h *history)
}

var actions = []action{
	{30, (*history).enqueue}, {6, (*history).reply}, {12, (*history).insert}, {2, (*history).insertOdd}, {1, (*history).crowd},
	{10, (*history).link}, {3, (*history).move}, {6, (*history).retry}, {4, (*history).cancel}, {4, (*history).sendNow},
	{2, (*history).retryAll}, {2, (*history).reviveAll}, {4, (*history).revive}, {3, (*history).release},
	{3, (*history).stopChat}, {5, (*history).signOfLife}, {4, (*history).leave}, {2, (*history).erase},
	{3, (*history).pauseOrResume}, {1, (*history).releaseSender}, {6, (*history).troubleChannel}, {5, (*history).troubleChat},
	{2, (*history).kill}, {1, (*history).restart}, {2, (*history).setClock}, {2, (*history).holdLock}, {3, (*history).breakWrites},
}

// act lets one thing happen.
func (h *history) act() {
	sum := 0
	for _, a := range actions {
		sum += a.weight
	}
	n := h.rng.IntN(sum)
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			a.do(h)
			return
		}
	}
}

// ours writes as the process that sends, or as another one of ours.
func (h *history) ours(what string, fn func(database.Tx) error) bool {
	if h.rng.IntN(2) == 0 {
		h.note("%s", what)
		defer h.process.d.Wake()
		return h.took(h.db.Write(context.Background(), fn))
	}
	h.note("%s (another process)", what)
	err := h.other.Write(context.Background(), fn)
	_, _ = h.db.ForeignCommits(context.Background()) // as the watch of the file does
	return h.took(err)
}

// took says whether a write was taken. Refusals are part of life, and so are broken disks.
func (h *history) took(err error) bool {
	var conflict *ConflictError
	switch {
	case err == nil:
		return true
	case errors.As(err, &conflict), errors.Is(err, ErrNotFound):
	case errors.Is(err, database.ErrBusy), strings.Contains(err.Error(), "read a message"), h.broken && strings.Contains(err.Error(), "disk full"):
	default:
		h.must(err)
	}
	h.trace[len(h.trace)-1] += ": " + err.Error()
	return false
}

// meet makes the history go on with other chats, so that moves do not merge them all into one.
func (h *history) meet() {
	h.named++
	chat := fmt.Sprint(7000 + h.named)
	switch {
	case h.named%5 == 0:
		chat = fmt.Sprint(-8000 - h.named)
	case h.named%2 == 0:
		chat = fmt.Sprint(AliasPrefix, h.named)
	}
	h.chats = append(h.chats, chat)
	h.chats = h.chats[max(0, len(h.chats)-14):]
}

func (h *history) anyChat() string { return h.chats[h.rng.IntN(len(h.chats))] }

// anyAddress is a chat that is no customer's alias.
func (h *history) anyAddress() string {
	for range 20 {
		if c := h.anyChat(); !strings.HasPrefix(c, AliasPrefix) {
			return c
		}
	}
	return "7001"
}

func (h *history) anyText() string {
	texts := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "poison", "reject", "markup", ""}
	return texts[h.rng.IntN(len(texts))]
}

func (h *history) oneIn(n int) bool { return h.rng.IntN(n) == 0 }

func (h *history) enqueue() {
	now := h.wall()
	n := NewMessage{Recipient: h.anyChat(), Type: "Text", Payload: map[string]string{"text": h.anyText()}}
	rank := rankMessage
	if h.oneIn(4) {
		rank = rankBroadcast
	}
	orderly := true
	if h.oneIn(6) {
		n.NotBefore, orderly = now.Add(time.Duration(h.rng.IntN(7200)-600)*time.Second), false
	}
	if h.oneIn(8) {
		n.ExpiresAt = now.Add(time.Duration(h.rng.IntN(7200)) * time.Second)
	}
	if h.oneIn(5) {
		n.CollapseKey, n.Subject = "order:1", "order:1"
	}
	if h.oneIn(8) {
		n.OnUncertain = OnUncertainHold
	}
	if h.oneIn(6) {
		h.keys++
		n.Key = fmt.Sprint("key", h.rng.IntN(h.keys+1))
		orderly = false
	}
	var id int64
	stored := h.ours(fmt.Sprintf("enqueue for %s, rank %d, %v", n.Recipient, rank, n), func(tx database.Tx) error {
		m, err := h.box.enqueue(tx, now, n, rank)
		if id = m.ID; err == nil {
			h.put(id, lineName(n.Recipient, rank), orderly, n.OnUncertain == OnUncertainHold)
		}
		return err
	})
	if !stored {
		h.drop(id)
	}
}

// put notes a new message, within its transaction: its call may begin before that has returned.
func (h *history) put(id int64, line string, orderly, hold bool) {
	h.channel.with(func() {
		if h.channel.fates[id] == nil {
			h.channel.fates[id] = &messageFate{hold: hold}
		}
		if orderly {
			if h.plain[line] == nil {
				h.plain[line] = map[int64]bool{}
			}
			h.plain[line][id] = true
		}
	})
}

// drop forgets a message whose transaction has failed: another one will get its id.
func (h *history) drop(id int64) {
	h.disturb(false, id)
	h.channel.with(func() { delete(h.channel.fates, id) })
}

// disturb notes that messages need not keep their order any more; with again, that a person lets
// them be tried as if they were new.
func (h *history) disturb(again bool, ids ...int64) {
	h.channel.with(func() {
		for _, id := range ids {
			if line, ok := h.lineOf(id); ok {
				delete(h.plain[line], id)
			}
			if f := h.channel.fates[id]; again && f != nil {
				f.maybe = 0
			}
		}
	})
}

func (h *history) reply() {
	chat := h.anyAddress()
	kind := []string{"help", "hint", "stop"}[h.rng.IntN(3)]
	every := time.Duration(h.rng.IntN(2)) * time.Minute
	h.ours("reply to "+chat, func(tx database.Tx) error {
		return h.box.EnqueueReply(tx, h.wall(), NewReply{Address: chat, Kind: kind, Type: "Text", Payload: map[string]string{"text": kind}, Every: every})
	})
}

// insert does what a program does that knows the table alone.
func (h *history) insert() {
	now := h.wall()
	created, notBefore, expires := now.UnixMilli(), any(nil), any(nil)
	orderly := true
	switch h.rng.IntN(8) {
	case 0:
		created -= int64(h.rng.IntN(1000)) * 3_600_000
	case 1:
		created += int64(h.rng.IntN(1000)) * 3_600_000
	case 2:
		notBefore, orderly = now.UnixMilli()+int64(h.rng.IntN(7200)-600)*1000, false
	case 3:
		expires = now.UnixMilli() + int64(h.rng.IntN(7200)-600)*1000
	}
	rank := h.rng.IntN(3)
	chat := h.anyChat()
	var id int64
	stored := h.ours("a foreign row for "+chat, func(tx database.Tx) error {
		err := tx.QueryRow(`INSERT INTO outbox (recipient, type, payload, created_at, not_before, expires_at, rank, collapse_key)
			VALUES (?, 'Text', json_object('text', ?), ?, ?, ?, ?, ?) RETURNING id`,
			chat, h.anyText(), created, notBefore, expires, rank, []any{nil, "order:1"}[h.rng.IntN(2)]).Scan(&id)
		if err == nil {
			h.put(id, lineName(chat, max(rank, rankMessage)), orderly, false)
		}
		return err
	})
	if !stored {
		h.drop(id)
	}
}

// insertOdd writes rows that the CHECKs refuse, as a program can that has switched them off.
func (h *history) insertOdd() {
	odd := [][3]string{
		{"not_before", "'soon'"}, {"expires_at", "9223372036854775807"}, {"created_at", "'2026-01-01'"}, {"payload", "'[1]'"},
		{"failures", "'many'"}, {"rank", "7"}, {"rank", "NULL"}, {"recipient", "x'00ff'"}, {"ready_at", "'now'"}, {"doubts", "-3"},
		{"hold", "9"}, {"ready_wait", "99999999999999999"}, {"expires_at", "-5"}, {"created_at", "0"}, {"type", "x'01'"}, {"state", "'sending'"},
	}[h.rng.IntN(16)]
	chat := h.anyChat()
	h.note("an odd row for %s: %s = %s", chat, odd[0], odd[1])
	columns, values := "recipient, type, payload, created_at", fmt.Sprintf(`'%s', 'Text', '{"text":"odd"}', %d`, chat, h.wall().UnixMilli())
	if i := strings.Index(columns, odd[0]); i >= 0 {
		list, names := strings.Split(values, ", "), strings.Split(columns, ", ")
		for j, n := range names {
			if n == odd[0] {
				list[j] = odd[1]
			}
		}
		values = strings.Join(list, ", ")
	} else {
		columns, values = columns+", "+odd[0], values+", "+odd[1]
	}
	_, err := h.raw.Exec(`INSERT INTO outbox (` + columns + `) VALUES (` + values + `)`)
	if err != nil {
		h.note("refused: %v", err)
	}
	_, _ = h.db.ForeignCommits(context.Background())
}

// crowd writes more messages for one chat than one slice of work deals with.
func (h *history) crowd() {
	if h.rng.IntN(3) > 0 {
		return
	}
	chat := h.anyChat()
	h.note("a crowd for %s", chat)
	_, err := h.raw.Exec(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO outbox (recipient, type, payload, created_at, collapse_key) SELECT '%s', 'Text', '{"text":"crowd"}', %d, NULL FROM n`,
		210+h.rng.IntN(300), chat, h.wall().UnixMilli()))
	h.took(err)
	_, _ = h.db.ForeignCommits(context.Background())
}
