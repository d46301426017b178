package sandbox

// getChat shows a chat. A chat that does not take messages can still be looked
// at, except one the bot does not know or was kicked from.
func getChat(c *call) (any, *apiError) {
	return c.readChat(func(chat *chat) (any, *apiError) {
		full := struct {
			chatObject
			AccentColorID    int            `json:"accent_color_id"`
			MaxReactionCount int            `json:"max_reaction_count"`
			Pinned           *messageObject `json:"pinned_message,omitempty"`
		}{chatObject: chat.object(), MaxReactionCount: 11}
		if chat.pinned != 0 {
			full.Pinned = c.world.anyMessage(chat.id, chat.pinned)
		}
		return full, nil
	})
}
