package syntax

// maxChatID bounds chat ids on both sides: Telegram promises that they have at most 52 significant
// bits (https://core.telegram.org/bots/api#chat).
const maxChatID = 1<<52 - 1

// ChatID says in words what IsChatID asks for; it follows "must be".
const ChatID = "a chat id: a whole number such as 7900000001 or -100500, not 0, and of at most 52 bits"

// IsChatID says whether a number can be a chat's id. A group's is negative.
func IsChatID(id int64) bool { return id != 0 && id >= -maxChatID && id <= maxChatID }
