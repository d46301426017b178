package sandbox

import "encoding/json"

// checkReply checks that the message which a new one is to answer exists; w.mu
// is held. The chat does not show which message was answered.
func (c *call) checkReply(chatID int64) *apiError {
	reply := struct {
		MessageID int64 `json:"message_id"`
		ChatID    int64 `json:"chat_id"`
		Optional  bool  `json:"allow_sending_without_reply"`
	}{ // the older form of the same
		MessageID: c.params.integer("reply_to_message_id", 0),
		Optional:  c.params.flag("allow_sending_without_reply"),
	}
	if given := c.params.values["reply_parameters"]; given != "" {
		if err := json.Unmarshal([]byte(given), &reply); err != nil {
			return badRequest("can't parse reply parameters JSON object")
		}
	}
	if reply.ChatID != 0 {
		chatID = reply.ChatID
	}
	if reply.MessageID == 0 || reply.Optional || c.world.knowsMessage(chatID, reply.MessageID) {
		return nil
	}
	return badRequest("message to be replied not found")
}

// knowsMessage tells whether a chat has a message, the customer's included. What
// is older than its transcript is taken for granted.
func (w *world) knowsMessage(chatID, messageID int64) bool {
	if w.message(chatID, messageID) != nil {
		return true
	}
	lines, oldest := w.chat(chatID).lines, int64(0)
	for _, l := range lines {
		if l.id == messageID {
			return true
		}
		if oldest == 0 {
			oldest = l.id
		}
	}
	return len(lines) == maxLines && (oldest == 0 || messageID < oldest)
}
