package telegram

import "notifier/internal/outbox"

// notFoundWords are the descriptions of a 400 that say the address leads nowhere. They may be
// wrong about the chat (the wrong bot asks, or the server has forgotten a user), so they raise a
// doubt only. In lower case. See telegram-bot-api/Client.cpp (github.com/tdlib/telegram-bot-api,
// check_chat) and td/telegram/DialogManager.cpp (github.com/tdlib/td); codes in capitals pass
// through from Telegram's servers.
var notFoundWords = []string{
	"chat not found",
	"peer_id_invalid",
	"channel_private",
	"chat_id is empty",
	"user_deleted",
	"group is deactivated",
	"have no access to the user",
}

// noRightsWords are the descriptions of a 400 that say the bot may not write there, in lower case.
// See td/telegram/MessageContent.cpp (can_send_message_content) and td/telegram/DialogManager.cpp
// (github.com/tdlib/td).
var noRightsWords = []string{
	"not enough rights",
	"have no rights to send",
	"no write access",
	"need administrator rights",
	"chat_write_forbidden",
	"chat_restricted",
	"chat_admin_required",
	"chat_send_plain_forbidden",
	"chat_guest_send_forbidden",
	"user_restricted",
	"allow_payment_required",
	"privacy_premium_required",
}

// topicWords are the descriptions of a 400 that say the topic of a forum cannot take the message, in
// lower case: the chat itself is well.
var topicWords = []string{"topic_closed", "topic_deleted", "message thread not found"}

// deadCodes are codes that mean a 403 but come as a 400: the Bot API server turns a 403 whose text
// is a bare code into a 400 (fail_query_with_error in telegram-bot-api/Client.cpp).
var deadCodes = []string{"user_is_blocked", "input_user_deactivated"}

// deathReasons tell from the words of a 403 why the chat is dead, first match first. In lower
// case. See telegram-bot-api/Client.cpp and td/telegram/MessagesManager.cpp.
var deathReasons = []struct {
	words  []string
	reason string
}{
	{[]string{"blocked by the user", "user_is_blocked"}, outbox.RecipientBlocked},
	{[]string{"user is deactivated", "user_deactivated"}, outbox.RecipientDeactivated},
	{[]string{"kicked", "not a member"}, outbox.RecipientKicked},
	{[]string{"can't initiate conversation", "peer_id_invalid"}, outbox.RecipientNeverStarted},
}

func deathReason(words string) string {
	for _, d := range deathReasons {
		if contains(words, d.words) {
			return d.reason
		}
	}
	return outbox.RecipientOther
}
