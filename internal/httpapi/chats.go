package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"notifier/internal/database"
	"notifier/internal/outbox"
	"notifier/internal/telegram/syntax"
)

func (a *API) registerChats() {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{"chats"}}
	}
	register(a, op("list-chats", http.MethodGet, "/chats", "List chats of which something is remembered"), a.listChats)
	register(a, op("show-chat", http.MethodGet, "/chats/{chatId}", "Say whether a chat can be written to"), a.showChat)
	register(a, op("revive-chat", http.MethodPost, "/chats/{chatId}/revive", "Write to a chat again that was dead or doubtful"), a.onChat(a.Outbox.Revive))
	register(a, op("revive-chats", http.MethodPost, "/chats/revive", "Write to all chats again that are chosen"), a.reviveChats)
	register(a, op("release-chat", http.MethodPost, "/chats/{chatId}/release", "Lift a chat's gate"), a.onChat(a.Outbox.ReleaseGate))
}

type chatBody struct {
	ChatID    int64                 `json:"chatId"`
	State     outbox.RecipientState `json:"state"`
	Reason    string                `json:"reason,omitempty"`
	Detail    string                `json:"detail,omitempty" doc:"Telegram's words"`
	Since     *time.Time            `json:"since,omitempty"`
	GateUntil *time.Time            `json:"gateUntil,omitempty" doc:"no call before"`
}

func showChat(r outbox.Recipient) chatBody {
	id, _ := strconv.ParseInt(r.Address, 10, 64) // every address of Telegram is a number
	return chatBody{
		ChatID: id, State: r.State, Reason: r.Reason, Detail: r.Detail,
		Since: instant(r.Since), GateUntil: instant(r.GateUntil),
	}
}

type listChatsInput struct {
	PageInput
	State outbox.RecipientState `query:"state" enum:"open,doubtful,dead"`
}

func (a *API) listChats(ctx context.Context, in *listChatsInput) (*output[page[chatBody]], error) {
	if f := checkRecipient("/query/after", in.After); f != nil {
		return nil, invalid("/query/after", noCursor)
	}
	return look(ctx, a, func(tx database.Tx, _ time.Time) (page[chatBody], error) {
		find := func(after string, limit int) ([]outbox.Recipient, error) {
			return a.Outbox.Recipients(tx, in.State, after, limit)
		}
		return fill(in.PageInput, find, showChat, func(r outbox.Recipient) string { return r.Address })
	})
}

// ChatInput names a chat.
type ChatInput struct {
	ChatID int64 `path:"chatId" doc:"a whole number of at most 52 bits; a group's is negative"`
}

// address is the chat's id as it is stored.
func (in ChatInput) address() (string, error) {
	if !syntax.IsChatID(in.ChatID) {
		return "", invalid("/path/chatId", chatIDExpect)
	}
	return strconv.FormatInt(in.ChatID, 10), nil
}

func (a *API) showChat(ctx context.Context, in *ChatInput) (*output[chatBody], error) {
	address, err := in.address()
	if err != nil {
		return nil, err
	}
	return look(ctx, a, func(tx database.Tx, _ time.Time) (chatBody, error) {
		r, err := a.Outbox.Recipient(tx, address)
		return showChat(r), err
	})
}

type actOnChatInput struct {
	ChatInput
	Nothing
}

// onChat is the operation that does act, and answers how the chat stands then.
func (a *API) onChat(act func(database.Tx, time.Time, string) (outbox.Recipient, error)) func(context.Context, *actOnChatInput) (*response[chatBody], error) {
	return func(ctx context.Context, in *actOnChatInput) (*response[chatBody], error) {
		address, err := in.address()
		if err != nil {
			return nil, err
		}
		return ok(ctx, a, func(tx database.Tx, now time.Time) (chatBody, error) {
			r, err := act(tx, now, address)
			return showChat(r), err
		})
	}
}
