package outbox

import (
	"context"
	"fmt"
	"time"
)

// What goes wrong.

func (h *history) troubleChannel() {
	modes := []mode{healthy, healthy, healthy, outage, outage, half, stopped, refusing, flooding}
	m := modes[h.rng.IntN(len(modes))]
	bad := []Verdict{NotSent, NotFromChannel, Failed, Uncertain}[h.rng.IntN(4)]
	h.note("the channel is %s (%s)", m, bad)
	h.channel.set(m, bad)
}

func (h *history) troubleChat() {
	chat, kind := h.anyAddress(), h.rng.IntN(6)
	h.named++
	h.channel.with(func() {
		u := h.channel
		switch kind {
		case 0, 1:
			u.left[chat] = true
		case 2:
			u.lost[chat] = true
		case 3:
			u.moved[chat] = fmt.Sprint(-8000 - h.named)
		case 4:
			u.moved[chat] = "back"
		default:
			delete(u.left, chat)
			delete(u.lost, chat)
			delete(u.moved, chat)
		}
	})
	h.note("chat %s: %s", chat, []string{"left", "left", "lost", "moved", "moves back", "well"}[kind])
}

func (h *history) kill() {
	point := 1 + h.rng.Int32N(killPoints-1)
	h.note("kill at point %d", point)
	h.process.kill(point)
	h.begin()
	if h.oneIn(3) { // again, in the middle of its beginning
		h.process.kill(atRound)
		h.begin()
	}
}

func (h *history) restart() {
	h.note("restart")
	h.mend() // else an answer that cannot be stored keeps it from ending
	h.process.stop()
	h.begin()
}

// setClock sets the machine's clock.
func (h *history) setClock() {
	offsets := []time.Duration{0, 0, 0, time.Minute, -time.Minute, time.Hour, -time.Hour, -3 * time.Second, 10 * 24 * time.Hour, -10 * 24 * time.Hour}
	o := offsets[h.rng.IntN(len(offsets))]
	h.note("the clock is off by %v", o)
	h.channel.with(func() {
		h.offset.Store(int64(o))
	})
}

// holdLock lets another program hold the write lock for a while, so that answers gather.
func (h *history) holdLock() {
	d := time.Duration(h.rng.IntN(10_000)) * time.Millisecond
	h.note("the write lock is held for %v", d)
	conn, err := h.raw.Conn(context.Background())
	h.must(err)
	_, err = conn.ExecContext(context.Background(), `BEGIN IMMEDIATE`)
	h.must(err)
	h.live(d)
	_, err = conn.ExecContext(context.Background(), `COMMIT`)
	h.must(err)
	h.must(conn.Close())
}

// breakWrites lets writes of one kind fail from now on, or ends that.
func (h *history) breakWrites() {
	if h.broken {
		h.mend()
		return
	}
	on := []string{
		`UPDATE ON notifier_attempts`, `INSERT ON notifier_attempts`, `UPDATE OF turn_at ON notifier_recipients`,
		`UPDATE OF state ON outbox`, `UPDATE ON notifier_counts`, `INSERT ON notifier_tasks`, `UPDATE OF reason ON outbox`,
	}[h.rng.IntN(7)]
	often := []string{"", "WHEN abs(random()) % 2 = 0", "WHEN abs(random()) % 5 = 0"}[h.rng.IntN(3)]
	h.note("writes fail: %s %s", on, often)
	_, err := h.raw.Exec(`CREATE TRIGGER broken BEFORE ` + on + ` ` + often + ` BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
	h.must(err)
	h.broken = true
	_, _ = h.db.ForeignCommits(context.Background())
}

func (h *history) mend() {
	if h.broken {
		h.note("writes work again")
		_, err := h.raw.Exec(`DROP TRIGGER broken`)
		h.must(err)
		h.broken = false
	}
}
