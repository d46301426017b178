package sandbox

// getChat shows a chat. A chat that does not take messages can still be looked
// at, except one the bot does not know or was kicked from.
func getChat(c *call) (any, *apiError) {
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	chat := c.world.chat(chatID)
	switch chat.state {
	case ChatUnknown, ChatKicked, ChatMigrated:
		return nil, chat.access("")
	}
	return chat.object(), nil
}
