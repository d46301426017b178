package sandbox

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// call is one Bot API call on its way.
type call struct {
	world  *world
	bot    *bot
	method method
	params params
	client <-chan struct{} // closed when the client has gone away
	caller caller
	record *Call // guarded by world.mu
}

// method is one method of the Bot API.
type method struct {
	name     string // as Telegram spells it
	delivers bool   // it puts a message into a chat
	run      func(*call) (any, *apiError)
}

// errAborted ends a call whose world has ended; its answer is lost.
var errAborted = &apiError{}

var methods = indexMethods(
	method{name: "getMe", run: getMe},
	method{name: "sendChatAction", run: sendChatAction},
	method{name: "sendMessage", delivers: true, run: sendMessage},
	method{name: "sendPhoto", delivers: true, run: sendFile(KindPhoto)},
	method{name: "sendDocument", delivers: true, run: sendFile(KindDocument)},
	method{name: "sendVideo", delivers: true, run: sendFile(KindVideo)},
	method{name: "sendAnimation", delivers: true, run: sendFile(KindAnimation)},
	method{name: "sendAudio", delivers: true, run: sendFile(KindAudio)},
	method{name: "sendVoice", delivers: true, run: sendFile(KindVoice)},
	method{name: "sendVideoNote", delivers: true, run: sendFile(KindVideoNote)},
	method{name: "sendSticker", delivers: true, run: sendFile(KindSticker)},
	method{name: "sendLocation", delivers: true, run: sendContent(KindLocation, "locations", readLocation)},
	method{name: "sendVenue", delivers: true, run: sendContent(KindVenue, "venues", readVenue)},
	method{name: "sendContact", delivers: true, run: sendContent(KindContact, "contacts", readContact)},
	method{name: "sendPoll", delivers: true, run: sendContent(KindPoll, "polls", readPoll)},
	method{name: "sendDice", delivers: true, run: sendDice},
	method{name: "getFile", run: getFile},
	method{name: "sendMediaGroup", delivers: true, run: sendMediaGroup},
	method{name: "forwardMessage", delivers: true, run: forwardMessage},
	method{name: "forwardMessages", delivers: true, run: forwardMessages},
	method{name: "copyMessage", delivers: true, run: copyMessage},
	method{name: "copyMessages", delivers: true, run: copyMessages},
	method{name: "editMessageCaption", run: editMessageCaption},
	method{name: "editMessageMedia", run: editMessageMedia},
	method{name: "editMessageReplyMarkup", run: editMessageReplyMarkup},
	method{name: "stopPoll", run: stopPoll},
	method{name: "deleteMessage", run: deleteMessage},
	method{name: "deleteMessages", run: deleteMessages},
	method{name: "pinChatMessage", run: pinChatMessage},
	method{name: "unpinChatMessage", run: unpinChatMessage},
	method{name: "unpinAllChatMessages", run: unpinAllChatMessages},
	method{name: "setMessageReaction", run: setMessageReaction},
	method{name: "sendInvoice", delivers: true, run: sendInvoice},
	method{name: "answerPreCheckoutQuery", run: answerPreCheckoutQuery},
	method{name: "answerInlineQuery", run: answerInlineQuery},
	method{name: "getChatMember", run: getChatMember},
	method{name: "getChatMemberCount", run: getChatMemberCount},
	method{name: "getChatAdministrators", run: getChatAdministrators},
	method{name: "leaveChat", run: leaveChat},
	method{name: "getUserProfilePhotos", run: getUserProfilePhotos},
	method{name: "setMyName", run: botName.set},
	method{name: "getMyName", run: botName.get},
	method{name: "setMyDescription", run: botDescription.set},
	method{name: "getMyDescription", run: botDescription.get},
	method{name: "setMyShortDescription", run: botShortDescription.set},
	method{name: "getMyShortDescription", run: botShortDescription.get},
	method{name: "setChatMenuButton", run: setChatMenuButton},
	method{name: "getChatMenuButton", run: getChatMenuButton},
	method{name: "createForumTopic", run: createForumTopic},
	method{name: "editForumTopic", run: onTopic(renameTopic)},
	method{name: "closeForumTopic", run: onTopic(closeTopic(true))},
	method{name: "reopenForumTopic", run: onTopic(closeTopic(false))},
	method{name: "deleteForumTopic", run: onTopic(deleteTopic)},
	method{name: "logOut", run: logOut},
	method{name: "close", run: closeBot},
	method{name: "editMessageText", run: editMessageText},
	method{name: "answerCallbackQuery", run: answerCallbackQuery},
	method{name: "getUpdates", run: getUpdates},
	method{name: "setWebhook", run: setWebhook},
	method{name: "deleteWebhook", run: deleteWebhook},
	method{name: "getWebhookInfo", run: getWebhookInfo},
	method{name: "getChat", run: getChat},
	method{name: "setMyCommands", run: setMyCommands},
	method{name: "getMyCommands", run: getMyCommands},
	method{name: "deleteMyCommands", run: deleteMyCommands},
)

// indexMethods makes a table by lower-case name.
func indexMethods(list ...method) map[string]method {
	table := make(map[string]method, len(list))
	for _, m := range list {
		table[strings.ToLower(m.name)] = m
	}
	return table
}

// botPath is /bot<token>/[test/]<method>; the method may also be a parameter.
var botPath = regexp.MustCompile(`^/bot([0-9]{1,18}):[A-Za-z0-9_-]+/(?:test/)?(.*)$`)

// serveBotAPI answers a call. For one whose connection is to be lost it panics
// with http.ErrAbortHandler.
func (s *Sandbox) serveBotAPI(rw http.ResponseWriter, r *http.Request) {
	path := botPath.FindStringSubmatch(r.URL.Path)
	if path == nil {
		errNotFound.answer().write(rw)
		return
	}
	if !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodHead}, r.Method) {
		errHTTPMethod.answer().write(rw)
		return
	}
	_, a := s.work(path, r)
	a.write(rw)
}

// serveCall works a request out as serveBotAPI does, but keeps the answer in the
// record alone. It is nil for a path that is no call's.
func (s *Sandbox) serveCall(r *http.Request) *Call {
	path := botPath.FindStringSubmatch(r.URL.Path)
	if path == nil {
		return nil
	}
	record, _ := s.work(path, r)
	return record
}

// work reads a call, lets the latency pass, works out the answer and keeps a
// record.
func (s *Sandbox) work(path []string, r *http.Request) (*Call, answer) {
	botID, _ := strconv.ParseInt(path[1], 10, 64) // at most 18 digits
	// The body is read first: a client may go away, its call stays.
	parameters, broken := readParams(r)
	c := s.current().receive(botID, path[2], parameters, r)
	a := c.answer(broken)
	c.world.finish(c.record, a)
	return c.record, a
}

// receive notes a new call.
func (w *world) receive(botID int64, name string, p params, r *http.Request) *call {
	if name == "" {
		name = p.values["method"]
	}
	m := lookUp(name)
	chatID, _ := p.chatParameter() // methods without a chat have none
	record := &Call{BotID: botID, Method: m.name, ChatID: chatID, told: &told{}}
	record.Params, record.Files = p.logged()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin(record, w.clock.now())
	from := caller{record.CallID, r.RemoteAddr, record.ReceivedAt, record.told}
	return &call{
		world: w, bot: w.bot(botID), method: m, params: p, client: r.Context().Done(), caller: from, record: record,
	}
}

// answer works the call out. Faults come before everything, even before the
// parameters are looked at.
func (c *call) answer(broken *apiError) answer {
	w := c.world
	w.mu.Lock()
	latency := w.limits.Latency
	w.mu.Unlock()
	if !w.sleepUntil(w.clock.now().Add(latency)) {
		return lostAnswer
	}
	if fault := c.strike(); fault != nil {
		return c.suffer(*fault, broken)
	}
	return c.process(broken)
}

// process is the call's usual way.
func (c *call) process(broken *apiError) answer {
	if broken != nil {
		return broken.answer()
	}
	if c.isLoggedOut() {
		return errLoggedOut.answer()
	}
	result, refused := c.method.run(c)
	switch {
	case refused == errAborted:
		return lostAnswer
	case refused != nil:
		return refused.answer()
	default:
		return success(result)
	}
}

// errLoggedOut refuses every call of a bot that has logged out, but logOut.
var errLoggedOut = &apiError{code: http.StatusBadRequest, description: "Logged out"}

func (c *call) isLoggedOut() bool {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return c.bot.loggedOut && c.method.name != "logOut"
}

// explained is a result that comes with a description.
type explained struct {
	result      any
	description string
}

func unknownMethod(*call) (any, *apiError) { return nil, errUnknownMethod }

func getMe(c *call) (any, *apiError) {
	return struct {
		user
		CanJoinGroups           bool `json:"can_join_groups"`
		CanReadAllGroupMessages bool `json:"can_read_all_group_messages"`
		SupportsInlineQueries   bool `json:"supports_inline_queries"`
	}{user: c.bot.user(), CanJoinGroups: true}, nil
}

// chatActions are the actions of sendChatAction.
var chatActions = []string{
	"typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "record_audio",
	"upload_audio", "upload_document", "choose_sticker", "find_location", "pick_up_location",
	"record_video_note", "upload_video_note", "cancel",
}

// sendChatAction spends no limit: it delivers nothing.
func sendChatAction(c *call) (any, *apiError) {
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(chatActions, strings.ToLower(c.params.values["action"])) {
		return nil, badRequest("wrong parameter action in request")
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if err := c.world.chat(chatID).access("have no write access to the chat"); err != nil {
		return nil, err
	}
	return true, nil
}
