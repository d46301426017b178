package sandbox

import (
	"encoding/json"
	"fmt"
)

// replyButton is a button of a keyboard that replaces the customer's own.
type replyButton struct {
	text    string
	request string // the name of the field that asks for more than the text
	value   json.RawMessage
}

// requests are what such a button can ask for, in the order in which the server
// looks for them, with its words for a group.
var requests = []struct{ name, what string }{
	{"request_phone_number", "Phone number can be requested"}, {"request_contact", "Phone number can be requested"},
	{"request_location", "Location can be requested"}, {"request_poll", "Poll can be requested"},
	{"web_app", "Web App buttons can be used"}, {"request_users", "Users can be requested"},
	{"request_user", "Users can be requested"}, {"request_chat", "Chats can be requested"},
	{"request_managed_bot", "Managed bots can be requested"},
}

func readReplyButton(raw json.RawMessage) (replyButton, error) {
	var b replyButton
	switch kindOfJSON(raw) {
	case "String":
		return b, json.Unmarshal(raw, &b.text)
	case "Object":
	default:
		return b, telegramError("KeyboardButton must be a String or an Object")
	}
	object, err := parseObject(raw)
	if err != nil {
		return b, err
	}
	if b.text, err = object.requiredText("text"); err != nil {
		return b, err
	}
	if _, _, err = buttonLooks(object); err != nil {
		return b, err
	}
	for i, request := range requests {
		if !object.has(request.name) {
			continue
		}
		if i < 3 { // these are switches, the others objects
			asked, err := object.flag(request.name)
			if err != nil {
				return b, err
			}
			if !asked {
				continue
			}
		} else if err := checkRequest(object, request.name); err != nil {
			return b, err
		}
		b.request, b.value = request.name, object[request.name]
		return b, nil
	}
	return b, nil
}

// checkRequest checks the object of a button that asks for something.
func checkRequest(object jsonObject, name string) error {
	inner, err := object.requiredObject(name)
	if err != nil {
		return err
	}
	switch name {
	case "request_poll":
		_, err = inner.text("type")
	case "web_app":
		_, err = inner.requiredText("url")
	default:
		_, err = inner.requiredInteger("request_id")
	}
	return err
}

// judgeReply checks such a keyboard and gives it as the Bot API writes it.
func (m *replyMarkup) judgeReply(c *chat) (json.RawMessage, error) {
	rows := [][]map[string]any{}
	inAll := 0
	for _, row := range m.keyboard {
		var shown []map[string]any
		for _, button := range row {
			if button.text == "" {
				continue
			}
			view, err := button.judge(c)
			if err != nil {
				return nil, err
			}
			shown = append(shown, view)
			if inAll++; limitRow(len(shown), inAll) {
				break
			}
		}
		if len(shown) > 0 {
			rows = append(rows, shown)
		}
	}
	if inAll == 0 {
		return nil, nil
	}
	return encode(struct {
		Keyboard [][]map[string]any `json:"keyboard"`
		keyboardOptions
	}{rows, m.options}), nil
}

func (b replyButton) judge(c *chat) (map[string]any, error) {
	text, err := cleanedButton(b.text, "keyboard button")
	if err != nil {
		return nil, err
	}
	view := map[string]any{"text": text}
	if b.request == "" {
		return view, nil
	}
	for _, request := range requests {
		if request.name == b.request && c.isGroup() {
			return nil, fmt.Errorf("%s in private chats only", request.what)
		}
	}
	if b.request == "web_app" {
		object, err := parseObject(b.value)
		if err != nil {
			return nil, err
		}
		if err := checkSecureURL(object, "Web App"); err != nil {
			return nil, err
		}
	}
	view[b.request] = b.value
	return view, nil
}
