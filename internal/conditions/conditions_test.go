package conditions

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/outbox"
)

const staffChat = 990

func open(t *testing.T) *Checks {
	t.Helper()
	db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "shop.db"), notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	box := outbox.New("telegram", outbox.Policy{TTL: time.Hour, UnlinkedTTL: time.Hour, MaxAttempts: 8, OnUncertain: outbox.OnUncertainResend})
	return &Checks{DB: db, Outbox: box, StaffChatID: staffChat}
}

func (c *Checks) write(t *testing.T, fn func(database.Tx) error) {
	t.Helper()
	if err := c.DB.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func (c *Checks) senderStatus(t *testing.T) (s outbox.SenderStatus, err error) {
	t.Helper()
	err = c.DB.Read(t.Context(), func(tx database.Tx) error {
		s, err = Sender(tx, c.DB, c.Outbox, time.Now())
		return err
	})
	return s, err
}

func codes(all []Condition) (list []string) {
	for _, c := range all {
		list = append(list, c.Code)
	}
	return list
}

// want checks the codes, and that each condition says something for people. Only the staff's chat may
// be named, and not to the alert address.
func (c *Checks) want(t *testing.T, want ...string) []Condition {
	t.Helper()
	all := c.All(t.Context())
	if got := codes(all); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, one := range all {
		if one.Detail == "" || one.Fix == "" || strings.Contains(one.Alarm, "990") {
			t.Errorf("%+v", one)
		}
	}
	return all
}

func TestNothingIsWrongWithANewDatabase(t *testing.T) {
	c := open(t)
	c.want(t)
	if s, err := c.senderStatus(t); err != nil || s.State != outbox.SenderRunning {
		t.Errorf("the sender is %+v, %v", s, err)
	}
}

func TestAPauseWakesNobody(t *testing.T) {
	c := open(t)
	c.write(t, func(tx database.Tx) error { return c.Outbox.Pause(tx, time.Now()) })
	if all := c.want(t, SenderPaused); all[0].Alarm != "" || all[0].Fix != "notifier resume" {
		t.Errorf("%+v", all)
	}
}

func TestACopyIsPausedBeforeAnybodyPausesIt(t *testing.T) {
	c := open(t)
	c.write(t, func(tx database.Tx) error { return c.Outbox.MarkCopy(tx, time.Now()) })
	c.want(t, Copy)
	if s, err := c.senderStatus(t); err != nil || s.State != outbox.SenderPaused || !strings.Contains(s.Reason, "copy") {
		t.Errorf("the sender is %+v, %v", s, err)
	}
}

func TestADeadStaffChatIsAnAlarm(t *testing.T) {
	c := open(t)
	now := time.Now()
	c.write(t, func(tx database.Tx) error {
		return c.Outbox.Leave(tx, now, "990", now, outbox.RecipientBlocked, "the customer blocked the bot")
	})
	if all := c.want(t, StaffDead); all[0].Alarm == "" || all[0].Fix != "notifier chat revive 990" {
		t.Errorf("%+v", all)
	}
	c.StaffChatID = 0
	c.want(t)
}

func TestWhatOnlyTheSendingProcessKnows(t *testing.T) {
	c := open(t)
	c.ClockDoubt = func() string { return "the clock is an hour off" }
	c.NotReceiving = func(time.Time) string { return "no answer for 2m" }
	c.want(t, Clock, NotReceiving)
}

func TestAMessageThatIsLateIsAnAlarmUnlessPaused(t *testing.T) {
	c := open(t)
	c.write(t, func(tx database.Tx) error {
		_, err := c.Outbox.Enqueue(tx, time.Now().Add(-lateAfter-time.Minute), outbox.NewMessage{
			Recipient: "701", Type: "Text", Payload: map[string]string{"text": "x"},
		})
		return err
	})
	if all := c.want(t, OldestDueLate); all[0].Alarm == "" {
		t.Errorf("%+v", all)
	}
	c.write(t, func(tx database.Tx) error { return c.Outbox.Pause(tx, time.Now()) })
	for _, one := range c.All(t.Context()) {
		if one.Alarm != "" {
			t.Errorf("during a pause: %+v", one)
		}
	}
}

func TestADatabaseThatCannotBeReadIsAnAlarm(t *testing.T) {
	c := open(t)
	if err := c.DB.Close(); err != nil {
		t.Fatal(err)
	}
	if all := c.All(t.Context()); len(all) != 1 || all[0].Code != Unreadable || all[0].Alarm == "" {
		t.Errorf("%+v", all)
	}
}

func TestWhatHoldsUpTheSender(t *testing.T) {
	now := time.Now()
	waiting := outbox.SenderStatus{State: outbox.SenderWaiting, Reason: "Telegram cannot be reached"}
	for name, c := range map[string]struct {
		facts facts
		since time.Time
		code  string
		alarm bool
	}{
		"running":         {facts{status: outbox.SenderStatus{State: outbox.SenderRunning}}, time.Time{}, "", false},
		"stopped":         {facts{status: outbox.SenderStatus{State: outbox.SenderStopped}}, time.Time{}, SenderStopped, true},
		"a short outage":  {facts{status: waiting}, now.Add(-outageAfter + time.Second), SenderWaiting, false},
		"an outage":       {facts{status: waiting}, now.Add(-outageAfter), Outage, true},
		"waiting, no one": {facts{status: waiting}, time.Time{}, SenderWaiting, false},
		"guarded":         {facts{status: waiting, guarded: true}, time.Time{}, MassRefusal, true},
	} {
		checks := &Checks{OutageSince: func() time.Time { return c.since }}
		if got := checks.sender(c.facts, now); got.Code != c.code || (got.Alarm != "") != c.alarm {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
