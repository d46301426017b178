package outbox

import (
	"context"
	"time"
)

// probeTimeout bounds a call that delivers nothing.
const probeTimeout = 10 * time.Second

// startProbe does what the open breaker wants: it asks the channel who we are, or touches a chat
// that has a message due. A method that was told to wait is not called: the channel did answer.
func (r *round) startProbe(p permit, due []candidate) {
	whom := due[0].address
	if whom == p.avoid && len(due) > 1 {
		whom = due[1].address
	}
	r.machine, _ = r.machine.step(askingEvent{p.probe}, r.now)
	if r.machine.waiting(p.probe, r.now) {
		r.machine, _ = r.machine.step(askedEvent{probe: p.probe, answer: Answer{Answered: true}, skipped: true}, r.now)
		r.again = true
		return
	}
	r.ask, r.whom = p.probe, whom
}

// greet asks who we are at the start, until the channel has answered: it tells the channel's
// clock, and whether the token is good, before there is anything to send.
func (r *round) greet() {
	if greet, _ := r.machine.mayGreet(r.now); greet && r.ask == probeNone {
		r.machine, _ = r.machine.step(askingEvent{probeGreeting}, r.now)
		r.ask = probeGreeting
	}
}

// probe makes a call that delivers nothing, beside the pass.
func (d *Dispatcher) probe(p probe, whom string) {
	d.probes++
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		var a Answer
		if p == probeTouch || p == probeSign {
			a = d.sender.Touch(ctx, whom)
		} else {
			a = d.sender.Identify(ctx)
		}
		d.results <- result{probe: p, answer: a, at: time.Now()}
	}()
}
