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
		a     CallResult
		stale bool // the recipient has shown life since the call began
		free  bool // the failure does not count: an outage explains it
		spare bool // the guard holds
		want  want
	}{
		"accepted":                   {r: open, a: CallResult{Verdict: Accepted}, want: want{state: StateSent, to: RecipientOpen}},
		"accepted clears the doubt":  {r: doubtful(2), a: CallResult{Verdict: Accepted}, want: want{state: StateSent, to: RecipientOpen}},
		"wait":                       {r: open, a: CallResult{Verdict: Wait, Wait: 9 * time.Second}, want: want{state: StatePending, to: RecipientOpen}},
		"uncertain":                  {r: open, a: CallResult{Verdict: Uncertain}, want: want{state: StatePending, wait: 30 * time.Second, counted: true, doubted: true, to: RecipientOpen}},
		"uncertain in an outage":     {r: open, a: CallResult{Verdict: Uncertain}, free: true, want: want{state: StatePending, wait: 30 * time.Second, doubted: true, to: RecipientOpen}},
		"uncertain again":            {r: open, m: Message{Doubts: 1}, a: CallResult{Verdict: Uncertain}, want: want{state: StateUncertain, counted: true, doubted: true, to: RecipientOpen}},
		"uncertain, hold":            {r: open, m: Message{OnUncertain: OnUncertainHold}, a: CallResult{Verdict: Uncertain}, want: want{state: StateUncertain, counted: true, doubted: true, to: RecipientOpen}},
		"uncertain, last attempt":    {r: open, m: Message{Failures: 2}, a: CallResult{Verdict: Uncertain}, want: want{state: StateUncertain, counted: true, doubted: true, to: RecipientOpen}},
		"not sent":                   {r: open, a: CallResult{Verdict: NotSent}, want: want{state: StatePending, wait: time.Second, to: RecipientOpen}},
		"not sent in an outage":      {r: open, a: CallResult{Verdict: NotSent}, free: true, want: want{state: StatePending, to: RecipientOpen}},
		"not telegram":               {r: open, a: CallResult{Verdict: NotFromChannel}, want: want{state: StatePending, wait: 800 * time.Millisecond, counted: true, to: RecipientOpen}},
		"failed":                     {r: open, m: Message{Failures: 1}, a: CallResult{Verdict: Failed}, want: want{state: StatePending, wait: 4 * time.Second, counted: true, to: RecipientOpen}},
		"failed in an outage":        {r: open, m: Message{Failures: 2}, a: CallResult{Verdict: Failed}, free: true, want: want{state: StatePending, to: RecipientOpen}},
		"failed, last attempt":       {r: open, m: Message{Failures: 2}, a: CallResult{Verdict: Failed}, want: want{state: StateDead, reason: ReasonTooManyAttempts, counted: true, to: RecipientOpen}},
		"failed last, maybe there":   {r: open, m: Message{Failures: 2, Doubts: 1}, a: CallResult{Verdict: Failed}, want: want{state: StateUncertain, counted: true, to: RecipientOpen}},
		"bot stopped":                {r: open, a: CallResult{Verdict: BotStopped}, want: want{state: StatePending, to: RecipientOpen}},
		"moved":                      {r: open, a: CallResult{Verdict: Moved, MovedTo: "8"}, want: want{state: StatePending, moved: "8", to: RecipientOpen}},
		"chat dead":                  {r: open, a: CallResult{Verdict: ChatDead, Reason: RecipientBlocked}, want: want{state: StateDead, reason: ReasonChatDead, to: RecipientDead, toReason: RecipientBlocked, others: true}},
		"chat dead, from before":     {r: open, a: CallResult{Verdict: ChatDead, Reason: RecipientBlocked}, stale: true, want: want{state: StatePending, to: RecipientOpen}},
		"chat dead after a stop":     {r: Recipient{State: RecipientDead, Reason: RecipientStopped, epoch: 4}, a: CallResult{Verdict: ChatDead, Reason: RecipientBlocked}, want: want{state: StateCanceled, reason: ReasonStopped, to: RecipientDead, toReason: RecipientStopped, others: true}},
		"doubtful, first":            {r: open, a: CallResult{Verdict: ChatDoubtful, Reason: ReasonNoRights}, want: want{state: StatePending, to: RecipientDoubtful, toReason: RecipientOther}},
		"doubtful, after the probes": {r: doubtful(3), a: CallResult{Verdict: ChatDoubtful, Reason: ReasonNoRights}, want: want{state: StateDead, reason: ReasonNoRights, to: RecipientDoubtful, others: true}},
		"doubtful, from before":      {r: open, a: CallResult{Verdict: ChatDoubtful, Reason: ReasonNoRights}, stale: true, want: want{state: StatePending, to: RecipientOpen}},
		"chat dead under the guard":  {r: open, a: CallResult{Verdict: ChatDead, Reason: RecipientBlocked}, spare: true, want: want{state: StatePending, to: RecipientOpen}},
		"doubtful, taken back once":  {r: Recipient{State: RecipientOpen, epoch: 4, spared: true, acceptedBy: "1"}, a: CallResult{Verdict: ChatDoubtful, Reason: ReasonNoRights}, want: want{state: StateDead, reason: ReasonChatDead, to: RecipientDead, toReason: RecipientOther, others: true}},
		"repair":                     {r: open, a: CallResult{Verdict: Repair}, want: want{state: StatePending, plain: true, to: RecipientOpen}},
		"repair of plain text":       {r: open, m: Message{plain: true}, a: CallResult{Verdict: Repair}, want: want{state: StateDead, reason: ReasonRejected, plain: true, to: RecipientOpen}},
		"rejected":                   {r: open, a: CallResult{Verdict: Rejected}, want: want{state: StateDead, reason: ReasonRejected, to: RecipientOpen}},
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
	out := judge(Message{}, r, CallResult{Verdict: Wait, Wait: time.Second}, circumstances{counts: true, identity: "1"}, Policy{}, now)
	if !out.recipient.GateUntil.Equal(r.GateUntil) || out.recipient.gateWait != time.Hour {
		t.Errorf("the gate went from %v to %v", r.GateUntil, out.recipient.GateUntil)
	}
	out = judge(Message{}, r, CallResult{Verdict: Wait, Wait: 2 * time.Hour}, circumstances{counts: true, identity: "1"}, Policy{}, now)
	if grown := out.recipient.GateUntil.Sub(now); grown < 2*time.Hour || grown > 2*time.Hour+time.Second {
		t.Errorf("the gate is %v from now, want two hours and up to a second", grown)
	}
}

func TestWaitsWithoutANumberDoubleUntilAnAcceptance(t *testing.T) {
	now := time.Now()
	r := Recipient{State: RecipientOpen}
	for _, want := range []time.Duration{5, 10, 20, 40, 60, 60} {
		out := judge(Message{}, r, CallResult{Verdict: Wait}, circumstances{counts: true, identity: "1"}, Policy{}, now)
		if got := out.flood; got < want*time.Second || got > want*time.Second+time.Second {
			t.Errorf("the wait is %v, want %v s and up to one more", got, int(want))
		}
		r = out.recipient
		r.GateUntil = time.Time{}
	}
	r = judge(Message{}, r, CallResult{Verdict: Accepted}, circumstances{counts: true, identity: "1"}, Policy{}, now).recipient
	if out := judge(Message{}, r, CallResult{Verdict: Wait}, circumstances{counts: true, identity: "1"}, Policy{}, now); out.flood > 6*time.Second {
		t.Errorf("after an acceptance the wait is %v", out.flood)
	}
}

func TestTheDoubtIsProbedAfterAMinuteTenAndAnHour(t *testing.T) {
	now := time.Now()
	r := Recipient{State: RecipientOpen}
	refusal := CallResult{Verdict: ChatDoubtful, Reason: ReasonChatNotFound}
	for _, want := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
		out := judge(Message{}, r, refusal, circumstances{counts: true, identity: "1"}, Policy{}, now)
		if got := out.recipient.doubtUntil.Sub(now); out.state != StatePending || got != want {
			t.Errorf("after a refusal it is %s and probed in %v, want %v", out.state, got, want)
		}
		r = out.recipient
	}
	for i := range 4 { // the last probe ends all that waits; from then on each message has one try
		out := judge(Message{}, r, refusal, circumstances{counts: true, identity: "1"}, Policy{}, now)
		if out.state != StateDead || out.reason != ReasonChatNotFound || out.endOthers != (i == 0) || !out.recipient.doubtUntil.IsZero() {
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
