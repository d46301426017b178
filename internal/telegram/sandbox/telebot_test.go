package sandbox

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/telebot.v3"
)

// telebot is a bot of gopkg.in/telebot.v3 as its users make one.
func (r *rig) telebot() *telebot.Bot {
	r.t.Helper()
	b, err := telebot.NewBot(telebot.Settings{
		URL: r.url, Token: "123456:sandbox", Client: r.client, Synchronous: true,
		Poller: &telebot.LongPoller{Timeout: 10 * time.Second, AllowedUpdates: []string{"message", "callback_query", "my_chat_member"}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

func TestTelebotSends(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 0.2})
		b := r.telebot()
		keyboard := &telebot.ReplyMarkup{InlineKeyboard: [][]telebot.InlineButton{{{Text: "OK", Data: "ok"}}}}
		sent, err := b.Send(telebot.ChatID(7), "*Ready*", telebot.ModeMarkdownV2, keyboard)
		if err != nil || sent.Text != "Ready" || sent.Entities[0].Type != telebot.EntityBold {
			t.Fatalf("%+v, %v", sent, err)
		}
		_, err = b.Send(telebot.ChatID(7), "again")
		var flood telebot.FloodError
		if !errors.As(err, &flood) || flood.RetryAfter != 5 {
			t.Fatalf("%v", err)
		}
		time.Sleep(time.Duration(flood.RetryAfter) * time.Second)
		if _, err := b.Send(telebot.ChatID(7), "again"); err != nil {
			t.Error(err)
		}
		if got := r.Stats(); got.Delivered != 2 || got.Violations != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestTelebotErrors(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{})
		b := r.telebot()
		r.done(r.Migrate(-4200, -1001234567890))
		var moved telebot.GroupError
		if _, err := b.Send(telebot.ChatID(-4200), "x"); !errors.As(err, &moved) || moved.MigratedTo != -1001234567890 {
			t.Fatalf("%v", err)
		}
		if _, err := b.Send(telebot.ChatID(moved.MigratedTo), "x"); err != nil {
			t.Error(err)
		}
		r.done(r.Block(7))
		if _, err := b.Send(telebot.ChatID(7), "x"); !errors.Is(err, telebot.ErrBlockedByUser) {
			t.Errorf("%v", err)
		}
		r.done(r.Deactivate(9))
		if _, err := b.Send(telebot.ChatID(9), "x"); !errors.Is(err, telebot.ErrUserIsDeactivated) {
			t.Errorf("%v", err)
		}
		r.done(r.Kick(-5))
		if _, err := b.Send(telebot.ChatID(-5), "x"); !errors.Is(err, telebot.ErrKickedFromGroup) {
			t.Errorf("%v", err)
		}
		if _, err := b.Send(telebot.ChatID(8), strings.Repeat("x", 4097)); !errors.Is(err, telebot.ErrTooLongMessage) {
			t.Errorf("%v", err)
		}
	})
}

func TestTelebotPolls(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{})
		b := r.telebot()
		var got []string
		b.Handle("/start", func(c telebot.Context) error {
			got = append(got, "start "+c.Message().Payload)
			return c.Send("Welcome")
		})
		b.Handle(telebot.OnCallback, func(c telebot.Context) error {
			got = append(got, "pressed "+c.Callback().Data)
			return c.Respond(&telebot.CallbackResponse{Text: "Noted"})
		})
		b.Handle(telebot.OnMyChatMember, func(c telebot.Context) error {
			got = append(got, string(c.ChatMember().NewChatMember.Role))
			return nil
		})
		r.fault(Fault{Method: "getUpdates", Times: 1, Respond: Respond{RetryAfter: number(3)}})
		r.fault(Fault{Method: "getUpdates", Times: 2, Respond: Respond{Status: 502, Body: text("<html>")}})
		r.done(r.Start(7, "order-1"))
		var polling sync.WaitGroup
		polling.Go(b.Start)
		time.Sleep(time.Minute)
		r.done(r.Press(7, 2, "ok"))
		r.done(r.Block(7))
		r.done(r.Unblock(7))
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"start order-1", "pressed ok", "kicked", "member"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		var info webhookInfo
		r.accepted(r.call("getWebhookInfo", nil), &info)
		if info.PendingUpdateCount != 0 {
			t.Errorf("%d updates are not confirmed", info.PendingUpdateCount)
		}
		if said := r.Messages(); len(said) != 1 || said[0].VisibleText != "Welcome" {
			t.Errorf("%+v", said)
		}
		b.Stop()
		polling.Wait()
	})
}
