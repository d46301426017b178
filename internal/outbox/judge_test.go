package outbox

import (
	"testing"
	"time"
)

// TestJudge has one line for each row of the table above judge, and for each of its branches.
func TestJudge(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	policy := Policy{MaxAttempts: 3, OnUncertain: OnUncertainResend}
	open := Recipient{Address: "7", State: RecipientOpen, epoch: 4}
	doubtful := func(step int) Recipient {
		return Recipient{Address: "7", State: RecipientDoubtful, doubtStep: step, epoch: 4}
	}
	type want struct {
		state    State
		reason   string
		wait     time.Duration // at least, and at most twice that
		counted  bool
		doubted  bool
		plain    bool
		to       RecipientState
		toReason string
		others   bool
		moved    string
	}
	for name, c := range map[string]struct {
		m     Message
		r     Recipient
		a     Answer
		stale bool // the recipient has shown life since the call began
		free  bool // the failure does not count: an outage explains it
		spare bool // the guard holds
		want  want
	}{
		"accepted":                   {r: open, a: Answer{Verdict: Accepted}, want: want{state: Sent, to: RecipientOpen}},
		"accepted clears the doubt":  {r: doubtful(2), a: Answer{Verdict: Accepted}, want: want{state: Sent, to: RecipientOpen}},
		"wait":                       {r: open, a: Answer{Verdict: Wait, Wait: 9 * time.Second}, want: want{state: Pending, to: RecipientOpen}},
		"uncertain":                  {r: open, a: Answer{Verdict: Uncertain}, want: want{state: Pending, wait: 30 * time.Second, counted: true, doubted: true, to: RecipientOpen}},
		"uncertain in an outage":     {r: open, a: Answer{Verdict: Uncertain}, free: true, want: want{state: Pending, wait: 30 * time.Second, doubted: true, to: RecipientOpen}},
		"uncertain again":            {r: open, m: Message{Doubts: 1}, a: Answer{Verdict: Uncertain}, want: want{state: Unsure, counted: true, doubted: true, to: RecipientOpen}},
		"uncertain, hold":            {r: open, m: Message{OnUncertain: OnUncertainHold}, a: Answer{Verdict: Uncertain}, want: want{state: Unsure, counted: true, doubted: true, to: RecipientOpen}},
		"uncertain, last attempt":    {r: open, m: Message{Failures: 2}, a: Answer{Verdict: Uncertain}, want: want{state: Unsure, counted: true, doubted: true, to: RecipientOpen}},
		"not sent":                   {r: open, a: Answer{Verdict: NotSent}, want: want{state: Pending, wait: time.Second, to: RecipientOpen}},
		"not sent in an outage":      {r: open, a: Answer{Verdict: NotSent}, free: true, want: want{state: Pending, to: RecipientOpen}},
		"not telegram":               {r: open, a: Answer{Verdict: NotTelegram}, want: want{state: Pending, wait: 800 * time.Millisecond, counted: true, to: RecipientOpen}},
		"failed":                     {r: open, m: Message{Failures: 1}, a: Answer{Verdict: Failed}, want: want{state: Pending, wait: 4 * time.Second, counted: true, to: RecipientOpen}},
		"failed in an outage":        {r: open, m: Message{Failures: 2}, a: Answer{Verdict: Failed}, free: true, want: want{state: Pending, to: RecipientOpen}},
		"failed, last attempt":       {r: open, m: Message{Failures: 2}, a: Answer{Verdict: Failed}, want: want{state: Dead, reason: ReasonTooManyAttempts, counted: true, to: RecipientOpen}},
		"failed last, maybe there":   {r: open, m: Message{Failures: 2, Doubts: 1}, a: Answer{Verdict: Failed}, want: want{state: Unsure, counted: true, to: RecipientOpen}},
		"bot stopped":                {r: open, a: Answer{Verdict: BotStopped}, want: want{state: Pending, to: RecipientOpen}},
		"moved":                      {r: open, a: Answer{Verdict: Moved, MovedTo: "8"}, want: want{state: Pending, moved: "8", to: RecipientOpen}},
		"chat dead":                  {r: open, a: Answer{Verdict: ChatDead, Reason: RecipientBlocked}, want: want{state: Dead, reason: ReasonChatDead, to: RecipientDead, toReason: RecipientBlocked, others: true}},
		"chat dead, from before":     {r: open, a: Answer{Verdict: ChatDead, Reason: RecipientBlocked}, stale: true, want: want{state: Pending, to: RecipientOpen}},
		"chat dead after a stop":     {r: Recipient{State: RecipientDead, Reason: RecipientStopped, epoch: 4}, a: Answer{Verdict: ChatDead, Reason: RecipientBlocked}, want: want{state: Canceled, reason: ReasonStopped, to: RecipientDead, toReason: RecipientStopped, others: true}},
		"doubtful, first":            {r: open, a: Answer{Verdict: ChatDoubtful, Reason: ReasonNoRights}, want: want{state: Pending, to: RecipientDoubtful, toReason: RecipientOther}},
		"doubtful, after the probes": {r: doubtful(3), a: Answer{Verdict: ChatDoubtful, Reason: ReasonNoRights}, want: want{state: Dead, reason: ReasonNoRights, to: RecipientDoubtful, others: true}},
		"doubtful, from before":      {r: open, a: Answer{Verdict: ChatDoubtful, Reason: ReasonNoRights}, stale: true, want: want{state: Pending, to: RecipientOpen}},
		"chat dead under the guard":  {r: open, a: Answer{Verdict: ChatDead, Reason: RecipientBlocked}, spare: true, want: want{state: Pending, to: RecipientOpen}},
		"doubtful, taken back once":  {r: Recipient{State: RecipientOpen, epoch: 4, spared: true, acceptedBy: "1"}, a: Answer{Verdict: ChatDoubtful, Reason: ReasonNoRights}, want: want{state: Dead, reason: ReasonChatDead, to: RecipientDead, toReason: RecipientOther, others: true}},
		"repair":                     {r: open, a: Answer{Verdict: Repair}, want: want{state: Pending, plain: true, to: RecipientOpen}},
		"repair of plain text":       {r: open, m: Message{plain: true}, a: Answer{Verdict: Repair}, want: want{state: Dead, reason: ReasonRejected, plain: true, to: RecipientOpen}},
		"rejected":                   {r: open, a: Answer{Verdict: Rejected}, want: want{state: Dead, reason: ReasonRejected, to: RecipientOpen}},
	} {
		t.Run(name, func(t *testing.T) {
			epoch := c.r.epoch
			if c.stale {
				epoch--
			}
			out := judge(c.m, c.r, c.a, circumstances{epoch: epoch, counts: !c.free, spare: c.spare, identity: "1"}, policy, now)
			got := want{out.state, out.reason, c.want.wait, out.counted, out.doubted, out.plain,
				out.recipient.State, out.recipient.Reason, out.endOthers, out.movedTo}
			if got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if out.retryIn < c.want.wait || out.retryIn > 2*c.want.wait {
				t.Errorf("it is tried again after %v, want about %v", out.retryIn, c.want.wait)
			}
		})
	}
}

func TestAGateOnlyGrows(t *testing.T) {
	now := time.Now()
	r := Recipient{State: RecipientOpen, GateUntil: now.Add(time.Hour), gateWait: time.Hour}
	out := judge(Message{}, r, Answer{Verdict: Wait, Wait: time.Second}, circumstances{counts: true, identity: "1"}, Policy{}, now)
	if !out.recipient.GateUntil.Equal(r.GateUntil) || out.recipient.gateWait != time.Hour {
		t.Errorf("the gate went from %v to %v", r.GateUntil, out.recipient.GateUntil)
	}
	out = judge(Message{}, r, Answer{Verdict: Wait, Wait: 2 * time.Hour}, circumstances{counts: true, identity: "1"}, Policy{}, now)
	if grown := out.recipient.GateUntil.Sub(now); grown < 2*time.Hour || grown > 2*time.Hour+time.Second {
		t.Errorf("the gate is %v from now, want two hours and up to a second", grown)
	}
}

func TestWaitsWithoutANumberDoubleUntilAnAcceptance(t *testing.T) {
	now := time.Now()
	r := Recipient{State: RecipientOpen}
	for _, want := range []time.Duration{5, 10, 20, 40, 60, 60} {
		out := judge(Message{}, r, Answer{Verdict: Wait}, circumstances{counts: true, identity: "1"}, Policy{}, now)
		if got := out.flood; got < want*time.Second || got > want*time.Second+time.Second {
			t.Errorf("the wait is %v, want %v s and up to one more", got, int(want))
		}
		r = out.recipient
		r.GateUntil = time.Time{}
	}
	r = judge(Message{}, r, Answer{Verdict: Accepted}, circumstances{counts: true, identity: "1"}, Policy{}, now).recipient
	if out := judge(Message{}, r, Answer{Verdict: Wait}, circumstances{counts: true, identity: "1"}, Policy{}, now); out.flood > 6*time.Second {
		t.Errorf("after an acceptance the wait is %v", out.flood)
	}
}

func TestTheDoubtIsProbedAfterAMinuteTenAndAnHour(t *testing.T) {
	now := time.Now()
	r := Recipient{State: RecipientOpen}
	refusal := Answer{Verdict: ChatDoubtful, Reason: ReasonChatNotFound}
	for _, want := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
		out := judge(Message{}, r, refusal, circumstances{counts: true, identity: "1"}, Policy{}, now)
		if got := out.recipient.doubtUntil.Sub(now); out.state != Pending || got != want {
			t.Errorf("after a refusal it is %s and probed in %v, want %v", out.state, got, want)
		}
		r = out.recipient
	}
	for i := range 4 { // the last probe ends all that waits; from then on each message has one try
		out := judge(Message{}, r, refusal, circumstances{counts: true, identity: "1"}, Policy{}, now)
		if out.state != Dead || out.reason != ReasonChatNotFound || out.endOthers != (i == 0) || !out.recipient.doubtUntil.IsZero() {
			t.Errorf("refusal %d after the last probe: %+v", i, out)
		}
		r = out.recipient
	}
}

func TestBackoffLadder(t *testing.T) {
	want := []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
		30 * time.Minute, time.Hour, 2 * time.Hour, 2 * time.Hour}
	for i, w := range want {
		low, high := backoff(i+1, 0), backoff(i+1, 0.999999)
		if low != w*8/10 || high > w*12/10 || high < w*119/100 {
			t.Errorf("after %d failures it waits %v to %v, want %v ± 20 %%", i+1, low, high, w)
		}
	}
}
