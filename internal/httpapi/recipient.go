package httpapi

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"notifier/internal/outbox"
	"notifier/internal/telegram/syntax"
)

const (
	chatIDExpect    = "must be " + syntax.ChatID
	maxCustomerID   = 200
	recipientExpect = "must be a chat id such as 7900000001, or " + outbox.AliasPrefix + " and a customer's id"
)

// checkRecipient refuses what no message can be addressed to: a list that is empty because of a
// slip of the pen looks like all is well. An empty one is none.
func checkRecipient(pointer, recipient string) *Failure {
	if recipient == "" {
		return nil
	}
	if id, named := strings.CutPrefix(recipient, outbox.AliasPrefix); named {
		if id == "" || utf8.RuneCountInString(id) > maxCustomerID {
			return invalid(pointer, recipientExpect)
		}
		return nil
	}
	n, err := strconv.ParseInt(recipient, 10, 64)
	if err != nil || !syntax.IsChatID(n) || strconv.FormatInt(n, 10) != recipient {
		return invalid(pointer, recipientExpect)
	}
	return nil
}

// blank says that nobody could read a name, although it is not empty.
func blank(s string) bool { return s != "" && strings.TrimSpace(s) == "" }
