package sandbox

// A group has two members: the bot and the customer, who made it.

// getChatMember shows one of them.
func getChatMember(c *call) (any, *apiError) {
	userID := c.params.integer("user_id", 0)
	if userID <= 0 {
		return nil, badRequest("invalid user_id specified")
	}
	return c.readChat(func(chat *chat) (any, *apiError) {
		switch userID {
		case c.bot.id:
			return c.bot.member(chat.state), nil
		case chat.customer().ID:
			return chat.owner(), nil
		default:
			return nil, badRequest("user not found")
		}
	})
}

// owner is what the customer is in their group; in a private chat everyone is a
// member.
func (c *chat) owner() any {
	if !c.isGroup() {
		return chatMember{User: c.customer(), Status: "member"}
	}
	return struct {
		User        user   `json:"user"`
		Status      string `json:"status"`
		IsAnonymous bool   `json:"is_anonymous"`
	}{c.customer(), "creator", false}
}

func getChatMemberCount(c *call) (any, *apiError) {
	return c.readChat(func(*chat) (any, *apiError) { return 2, nil })
}

func getChatAdministrators(c *call) (any, *apiError) {
	return c.readChat(func(chat *chat) (any, *apiError) {
		if !chat.isGroup() {
			return nil, badRequest("there are no administrators in the private chat")
		}
		return []any{chat.owner()}, nil
	})
}

// leaveChat makes the bot leave a group.
func leaveChat(c *call) (any, *apiError) {
	return c.inChat(func(chat *chat) (any, *apiError) {
		if !chat.isGroup() {
			return nil, badRequest("chat member status can't be changed in private chats")
		}
		chat.state = ChatKicked
		c.world.notice(chat, "The bot left.")
		return true, nil
	})
}

// readChat looks at a chat, which need not take messages, but must be known to
// the bot; world.mu is held.
func (c *call) readChat(look func(*chat) (any, *apiError)) (any, *apiError) {
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
	case ChatOpen, ChatBlocked, ChatDeactivated, ChatRestricted:
	}
	return look(chat)
}
