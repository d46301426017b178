package outbox

import (
	"context"
	"sync/atomic"
	"time"
)

// process is one life of the program that sends.
type process struct {
	h      *history
	d      *Dispatcher
	stops  context.CancelFunc
	done   chan struct{} // closed when it has ended
	end    any           // how
	killed chan struct{} // closed when it is killed
	rhythm atomic.Int64  // time.Duration between two safety passes
	dies   atomic.Int32  // where it is to be killed
	offset time.Duration // of the wall clock, when it began
	began  time.Time
}

// Points at which a process can be killed.
const (
	nowhere     int32 = iota
	atRound           // before a round
	atAnswer          // an answer has come, and is not stored
	atGrant           // an attempt is stored, and its call not made
	inWrite           // within a transaction
	killPoints        // how many there are
	mostSeconds = 10
)

// deathBlow is the panic by which a process is killed.
type deathBlow struct{}

// begin starts a new process on the same file.
func (h *history) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{h: h, began: time.Now(), stops: cancel, done: make(chan struct{}), killed: make(chan struct{})}
	p.rhythm.Store(int64(time.Second))
	h.process = p
	p.d = NewDispatcher(h.db, h.box, &line{h.channel, p}, &mortalPacer{everySecond{last: map[string]time.Time{}}, p}, DispatcherConfig{
		Identity: "1", Concurrency: 8, BatchSize: 10, SendTimeout: 30 * time.Second,
		Observer: p, Wall: h.wall, Held: func() error { h.channel.rounds.Add(1); p.dieAt(atRound); return nil },
	})
	h.channel.begun(p)
	go func() {
		defer close(p.done)
		defer func() {
			if p.end = recover(); p.end == nil {
				p.end = "stopped"
				return
			}
			if _, killed := p.end.(deathBlow); !killed {
				panic(p.end)
			}
			close(p.killed)
		}()
		if err := p.d.Run(ctx, p, nil); err != nil {
			panic(err)
		}
	}()
}

// stop lets the process end in order.
func (p *process) stop() {
	p.stops()
	<-p.done
}

// kill lets the process die at a point, or before its next round when it does not come there soon.
func (p *process) kill(point int32) {
	p.dies.Store(point)
	select {
	case <-p.done:
		return
	case <-time.After(mostSeconds * time.Second):
	}
	p.dies.Store(atRound)
	p.h.mend() // a process that cannot store its answers makes no round
	for {
		p.d.Wake()
		select {
		case <-p.done:
			return
		case <-time.After(time.Second):
		}
	}
}

func (p *process) dieAt(point int32) {
	if p.dies.CompareAndSwap(point, nowhere) {
		panic(deathBlow{})
	}
}

// alive says whether the process has not been killed.
func (p *process) alive() bool {
	select {
	case <-p.killed:
		return false
	default:
		return true
	}
}

// Next implements Schedule.
func (p *process) Next(t time.Time) time.Time { return t.Add(time.Duration(p.rhythm.Load())) }

// Attempted implements Observer.
func (p *process) Attempted(Verdict, time.Duration) { p.dieAt(atAnswer) }

// Delivered implements Observer.
func (p *process) Delivered(time.Duration) {}

// Limited implements Observer.
func (p *process) Limited(time.Duration) {}

// Mended implements Observer: the reconciler must never find anything.
func (p *process) Mended(turns int) { p.h.mended.Add(int64(turns)) }

// mortalPacer is a pacer in which the process may be killed.
type mortalPacer struct {
	everySecond
	p *process
}

func (m *mortalPacer) Started(address string, at time.Time) {
	m.p.dieAt(atGrant)
	m.everySecond.Started(address, at)
}

func (m *mortalPacer) NextTo(address string, now time.Time) time.Time {
	m.p.dieAt(inWrite)
	return m.everySecond.NextTo(address, now)
}
