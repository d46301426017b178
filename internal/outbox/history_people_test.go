package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"notifier/internal/database"
)

// What people and customers do.

func (h *history) link() {
	alias := h.anyChat()
	if !strings.HasPrefix(alias, AliasPrefix) && h.rng.IntN(4) > 0 {
		return
	}
	target := h.anyAddress()
	if h.oneIn(2) {
		h.named++
		target = fmt.Sprint(7000 + h.named)
	}
	h.ours("link "+alias+" to "+target, func(tx database.Tx) error {
		return h.box.Link(tx, h.wall(), alias, target)
	})
}

func (h *history) move() {
	from := h.anyAddress()
	h.named++
	to := fmt.Sprint(-8000 - h.named)
	if h.oneIn(3) {
		to = h.anyAddress()
	}
	h.ours("move "+from+" to "+to, func(tx database.Tx) error { return h.box.Move(tx, h.wall(), from, to) })
}

// anyMessage is a message in one of the states, if there is one.
func (h *history) anyMessage(states string) (id int64) {
	h.must(h.other.Read(context.Background(), func(tx database.Tx) error {
		return tx.QueryRow(`SELECT coalesce((SELECT id FROM (SELECT id FROM outbox WHERE state IN (` + states + `) ORDER BY id DESC LIMIT 200)
			ORDER BY (id * 7919 + ` + fmt.Sprint(h.rng.IntN(1000)) + `) % 1000 LIMIT 1), 0)`).Scan(&id)
	}))
	return id
}

func (h *history) retry() {
	id, force := h.anyMessage(`'dead', 'uncertain', 'canceled'`), h.oneIn(2)
	h.disturb(true, id)
	h.ours(fmt.Sprint("retry ", id), func(tx database.Tx) error {
		_, err := h.box.Retry(tx, h.wall(), id, force)
		return err
	})
}

func (h *history) cancel() {
	id := h.anyMessage(`'pending', 'sending', 'uncertain'`)
	h.ours(fmt.Sprint("cancel ", id), func(tx database.Tx) error {
		_, err := h.box.Cancel(tx, h.wall(), id)
		return err
	})
}

func (h *history) sendNow() {
	id := h.anyMessage(`'pending'`)
	h.disturb(false, id)
	h.ours(fmt.Sprint("send now ", id), func(tx database.Tx) error {
		_, err := h.box.SendNow(tx, h.wall(), id)
		return err
	})
}

// ended are the messages that a bulk action may put back.
func (h *history) ended() (ids []int64) {
	h.must(h.other.Read(context.Background(), func(tx database.Tx) error {
		return each(tx, func(row database.Row) error {
			var id int64
			err := row.Scan(&id)
			ids = append(ids, id)
			return err
		}, `SELECT id FROM outbox WHERE state IN ('dead', 'uncertain', 'canceled')`)
	}))
	return ids
}

func (h *history) retryAll() {
	b := Bulk{State: []string{"dead", "uncertain", "canceled"}[h.rng.IntN(3)]}
	if h.oneIn(2) {
		b.Since = h.wall().Add(-time.Hour)
	}
	if b.State == "dead" && h.oneIn(2) {
		b.Reason = ReasonRejected
	}
	h.disturb(true, h.ended()...)
	h.note("retry all %+v", b)
	n, err := h.box.RetryAll(context.Background(), h.db, h.wall(), b)
	h.note("retried %d", n)
	h.took(err)
	h.process.d.Wake()
}

func (h *history) reviveAll() {
	b := Bulk{State: []string{"dead", "doubtful"}[h.rng.IntN(2)]}
	h.note("revive all %+v", b)
	_, err := h.box.ReviveAll(context.Background(), h.db, h.wall(), b)
	h.took(err)
	h.process.d.Wake()
}

func (h *history) revive() {
	chat := h.anyChat()
	h.ours("revive "+chat, func(tx database.Tx) error {
		_, err := h.box.Revive(tx, h.wall(), chat)
		return err
	})
}

func (h *history) release() {
	chat := h.anyChat()
	h.ours("release "+chat, func(tx database.Tx) error {
		r, err := h.box.ReleaseGate(tx, h.wall(), chat)
		h.channel.with(func() { delete(h.channel.gates, r.Address) })
		return err
	})
}

func (h *history) stopChat() {
	chat := h.anyChat()
	h.ours("stop "+chat, func(tx database.Tx) error { return h.box.Stop(tx, h.wall(), chat) })
}

func (h *history) signOfLife() {
	chat, s := h.anyChat(), Sign{At: h.wall(), Resumes: h.oneIn(2), Writable: h.oneIn(2)}
	h.ours("a sign of life of "+chat, func(tx database.Tx) error { return h.box.SignOfLife(tx, h.wall(), chat, s) })
}

func (h *history) leave() {
	chat := h.anyChat()
	h.ours(chat+" leaves", func(tx database.Tx) error {
		return h.box.Leave(tx, h.wall(), chat, h.wall(), RecipientBlocked, "blocked")
	})
}

func (h *history) erase() {
	chat := h.anyChat()
	h.ours("erase "+chat, func(tx database.Tx) error {
		root, err := h.box.root(tx, chat)
		if err != nil {
			return err
		}
		h.channel.with(func() { delete(h.channel.gates, root); delete(h.channel.gates, chat) })
		_, err = h.box.Erase(tx, h.wall(), chat)
		return err
	})
}

func (h *history) pauseOrResume() {
	if h.paused {
		h.paused = !h.ours("resume", func(tx database.Tx) error { return h.box.Resume(tx, h.wall(), "", 0) })
		return
	}
	h.paused = h.ours("pause", func(tx database.Tx) error { return h.box.Pause(tx, h.wall()) })
}

func (h *history) releaseSender() {
	h.ours("release the sender", func(tx database.Tx) error { return h.box.ReleaseSender(tx, h.wall()) })
}
