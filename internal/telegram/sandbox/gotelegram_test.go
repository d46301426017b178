package sandbox

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gotelegram "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"
)

// goTelegram is a bot of github.com/go-telegram/bot as its users make one.
func (r *rig) goTelegram(options ...gotelegram.Option) *gotelegram.Bot {
	r.t.Helper()
	b, err := gotelegram.New("123456:sandbox", append([]gotelegram.Option{
		gotelegram.WithServerURL(r.url), gotelegram.WithHTTPClient(time.Minute, r.client),
	}, options...)...)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

func TestGoTelegramSends(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 0.2})
		b := r.goTelegram()
		letter := &gotelegram.SendMessageParams{
			ChatID: int64(7), Text: "<b>Ready</b>", ParseMode: models.ParseModeHTML,
			ReplyMarkup: &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{{Text: "OK", CallbackData: "ok"}}}},
		}
		sent, err := b.SendMessage(r.t.Context(), letter)
		if err != nil || sent.Text != "Ready" || sent.Entities[0].Type != models.MessageEntityTypeBold || sent.ReplyMarkup == nil {
			t.Fatalf("%+v, %v", sent, err)
		}
		_, err = b.SendMessage(r.t.Context(), letter)
		var wait *gotelegram.TooManyRequestsError
		if !errors.As(err, &wait) || wait.RetryAfter != 5 {
			t.Fatalf("%v", err)
		}
		time.Sleep(time.Duration(wait.RetryAfter) * time.Second)
		if _, err = b.SendMessage(r.t.Context(), letter); err != nil {
			t.Error(err)
		}
		if got := r.Stats(); got.Delivered != 2 || got.Violations != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestGoTelegramErrors(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{})
		b := r.goTelegram()
		send := func(chatID int64) error {
			_, err := b.SendMessage(r.t.Context(), &gotelegram.SendMessageParams{ChatID: chatID, Text: "x"})
			return err
		}
		r.done(r.Migrate(-4200, -1001234567890))
		var moved *gotelegram.MigrateError
		if err := send(-4200); !errors.As(err, &moved) || moved.MigrateToChatID != -1001234567890 {
			t.Fatalf("%v", err)
		}
		if err := send(int64(moved.MigrateToChatID)); err != nil {
			t.Error(err)
		}
		r.done(r.Block(7))
		if err := send(7); !errors.Is(err, gotelegram.ErrorForbidden) {
			t.Errorf("%v", err)
		}
		if _, err := b.SendMessage(r.t.Context(), &gotelegram.SendMessageParams{ChatID: 8}); !errors.Is(err, gotelegram.ErrorBadRequest) {
			t.Errorf("%v", err)
		}
		r.fault(Fault{Respond: Respond{Status: 401}})
		if err := send(8); !errors.Is(err, gotelegram.ErrorUnauthorized) {
			t.Errorf("%v", err)
		}
	})
}

// Its own polling gets every update once and in order, whatever the server does
// meanwhile, and confirms them.
func TestGoTelegramPolls(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{})
		var got []string
		b := r.goTelegram(
			gotelegram.WithNotAsyncHandlers(),
			gotelegram.WithErrorsHandler(func(error) {}),
			gotelegram.WithDefaultHandler(func(ctx context.Context, b *gotelegram.Bot, u *models.Update) {
				switch {
				case u.Message != nil:
					got = append(got, u.Message.Text)
				case u.MyChatMember != nil:
					got = append(got, string(u.MyChatMember.NewChatMember.Type))
				case u.CallbackQuery != nil:
					got = append(got, "pressed "+u.CallbackQuery.Data)
					_, err := b.AnswerCallbackQuery(ctx, &gotelegram.AnswerCallbackQueryParams{CallbackQueryID: u.CallbackQuery.ID})
					if err != nil {
						got = append(got, err.Error())
					}
				}
			}))
		r.fault(Fault{Method: "getUpdates", Times: 1, Respond: Respond{RetryAfter: number(3)}})
		r.fault(Fault{Method: "getUpdates", Times: 2, Respond: Respond{Status: 502, Body: text("<html>")}})
		r.fault(Fault{Method: "getUpdates", Times: 1, Respond: Respond{Drop: DropBefore}})
		r.done(r.Start(7, "order-1"))
		ctx, stop := context.WithCancel(r.t.Context())
		var polling sync.WaitGroup
		polling.Go(func() { b.Start(ctx) })
		time.Sleep(time.Minute)
		r.accepted(r.send(7), nil)
		r.done(r.Press(7, 2, "ok"))
		r.done(r.Block(7))
		r.done(r.Unblock(7))
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"/start order-1", "pressed ok", "kicked", "member"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		var info webhookInfo
		r.accepted(r.call("getWebhookInfo", nil), &info)
		if info.PendingUpdateCount != 0 {
			t.Errorf("%d updates are not confirmed", info.PendingUpdateCount)
		}
		stop()
		polling.Wait()
	})
}
