package httpapi

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Telegram promises that chat ids have at most 52 significant bits
// (https://core.telegram.org/bots/api#chat).
const maxChatID = 1<<52 - 1

const (
	chatIDWords     = "must be a chat id: a whole number such as 7900000001 or -100500, not 0, and of at most 52 bits"
	maxCustomerID   = 200
	customerPrefix  = "customer:"
	recipientExpect = "must be a chat id such as 7900000001, or customer: and a customer's id"
)

// checkRecipient refuses what no message can be addressed to: a list that is empty because of a
// slip of the pen looks like all is well. An empty one is none.
func checkRecipient(pointer, recipient string) *Failure {
	if recipient == "" {
		return nil
	}
	if id, named := strings.CutPrefix(recipient, customerPrefix); named {
		if id == "" || utf8.RuneCountInString(id) > maxCustomerID {
			return invalid(pointer, recipientExpect)
		}
		return nil
	}
	n, err := strconv.ParseInt(recipient, 10, 64)
	if err != nil || !isChat(n) || strconv.FormatInt(n, 10) != recipient {
		return invalid(pointer, recipientExpect)
	}
	return nil
}

func isChat(n int64) bool { return n != 0 && n >= -maxChatID && n <= maxChatID }

// blank says that nobody could read a name, although it is not empty.
func blank(s string) bool { return s != "" && strings.TrimSpace(s) == "" }
