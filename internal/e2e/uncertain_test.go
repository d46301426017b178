package e2e

import (
	"testing"
	"time"

	"notifier/internal/outbox"
	"notifier/internal/telegram/sandbox"
)

func TestOB13OneHangingRequestHoldsUpNobody(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Method: "sendMessage", ChatID: 721, Respond: sandbox.Respond{Hang: true}})
		stuck := c.queue(721, "x")
		var ids []int64
		for i := range int64(30) {
			ids = append(ids, c.queue(730+i, "x"))
		}
		c.run(5 * time.Second) // and until the hanging call has ended
		c.wantSent(ids...)
		for _, m := range c.sandbox.Messages() {
			if took := m.ReceivedAt.Sub(c.message(ids[0]).CreatedAt); took > 5*time.Second {
				t.Errorf("chat %d waited %v", m.ChatID, took)
			}
		}
		c.run(10 * time.Minute)
		if m := c.message(stuck); m.State != outbox.StateUncertain {
			t.Errorf("the stuck message is %s", m.State)
		}
		for _, call := range c.sends(721) {
			if took := call.AnsweredAt.Sub(call.ReceivedAt); took > 31*time.Second {
				t.Errorf("a try took %v", took)
			}
		}
	})
}

func TestOB15DeliveredButTheAnswerCameTooLate(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Method: "sendMessage", ChatID: 731, Respond: sandbox.Respond{Drop: sandbox.DropAfter}})
		lost := c.queue(731, "x")
		next := c.queue(731, "y")
		for i := range int64(20) {
			c.queue(800+i, "x")
		}
		c.run(10 * time.Minute)
		for _, id := range []int64{lost, next} {
			if m := c.message(id); m.State != outbox.StateUncertain {
				t.Errorf("message %d is %s", id, m.State)
			}
		}
		c.wantTexts(731, "x", "x", "y", "y")
	})
}

func TestOB15SurelyNotDeliveredIsTriedAgainInFull(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		id := c.queue(732, "x")
		c.wire.cut.Store(true)
		c.run(20 * time.Hour)
		c.wire.cut.Store(false)
		c.run(2 * time.Minute)
		c.wantSent(id)
		c.wantTexts(732, "x")
	})
}

// The whole story of the night: pages of a proxy, then answers that are lost although the message
// was delivered, then silence.
func TestOneOrderAloneThroughATenHourOutage(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Duration: 3 * time.Hour, Respond: sandbox.Respond{Status: 502,
			Body: page("<html>502</html>"), ContentType: "text/html"}})
		id := c.queue(7900000001, "A-1001 is placed")
		c.run(3*time.Hour - time.Second)
		c.fault(sandbox.Fault{Duration: 3 * time.Hour, Respond: sandbox.Respond{Status: 504, Drop: ""}})
		c.run(3 * time.Hour)
		c.fault(sandbox.Fault{Duration: 4 * time.Hour, Respond: sandbox.Respond{Hang: true}})
		c.run(4 * time.Hour)
		c.sandbox.ClearFaults()
		c.run(5 * time.Minute)
		c.wantSent(id)
		if n := len(c.texts(7900000001)); n < 1 || n > 2 {
			t.Errorf("the customer has %d copies", n)
		}
	})
}

// The same, when the messages really arrive while their answers are lost, and the outage begins so.
func TestOneOrderAloneThroughTenHoursOfLostAnswers(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Duration: 5 * time.Hour, Respond: sandbox.Respond{Drop: sandbox.DropAfter}})
		id := c.queue(7900000001, "A-1001 is placed")
		c.run(5 * time.Hour)
		c.fault(sandbox.Fault{Duration: 5 * time.Hour, Respond: sandbox.Respond{Hang: true}})
		c.run(5 * time.Hour)
		c.sandbox.ClearFaults()
		c.run(5 * time.Minute)
		// Two messages would have shown an outage, which counts for nobody; one lost answer alone
		// is the message's own.
		if m := c.message(id); m.State != outbox.StateSent || m.Failures != 1 {
			t.Errorf("the message is %s with %d counted failures", m.State, m.Failures)
		}
		if n := len(c.texts(7900000001)); n != 2 {
			t.Errorf("the customer has %d copies, want the one of the lost answer and one more", n)
		}
	})
}
