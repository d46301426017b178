package sandbox

import (
	"encoding/json"
	"net/url"
	"strings"

	"notifier/internal/telegram/sandbox/markup"
)

// The bounds of keyboards.
const (
	maxButtons      = 100
	maxCallbackData = 64 // bytes
)

// markup reads and checks reply_markup. What it returns is what the chat shows
// below a message: only inline keyboards are; other keyboards are checked and
// forgotten.
func (p params) markup() (json.RawMessage, *apiError) {
	text := strings.TrimSpace(p.values["reply_markup"])
	if text == "" {
		return nil, nil
	}
	var form struct {
		InlineKeyboard *[]json.RawMessage `json:"inline_keyboard"`
		Keyboard       *[]json.RawMessage `json:"keyboard"`
	}
	if !json.Valid([]byte(text)) {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	if text[0] != '{' {
		return nil, badRequest("object expected as reply markup")
	}
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		return nil, badRequest("can't parse reply markup: a keyboard must be an Array of Arrays")
	}
	switch {
	case form.InlineKeyboard != nil:
		rows, err := inlineRows(*form.InlineKeyboard)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return encode(map[string]any{"inline_keyboard": rows}), nil
	case form.Keyboard != nil:
		return nil, checkReplyKeyboard(*form.Keyboard)
	default:
		return nil, nil // remove_keyboard, force_reply and {} show nothing
	}
}

// inlineRows checks an inline keyboard and leaves out empty rows.
func inlineRows(list []json.RawMessage) ([][]json.RawMessage, *apiError) {
	var rows [][]json.RawMessage
	total := 0
	for _, raw := range list {
		var row []json.RawMessage
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, badRequest("can't parse inline keyboard: a row must be an Array")
		}
		for _, button := range row {
			if err := checkInlineButton(button); err != nil {
				return nil, err
			}
		}
		if total += len(row); len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if total > maxButtons {
		return nil, badRequest("reply markup is too long")
	}
	return rows, nil
}

// inlineButton has the fields of an InlineKeyboardButton that are judged.
type inlineButton struct {
	Text         string  `json:"text"`
	URL          *string `json:"url"`
	CallbackData *string `json:"callback_data"`
}

// otherActions are the actions of a button that are not judged.
var otherActions = []string{
	"web_app", "login_url", "switch_inline_query", "switch_inline_query_current_chat",
	"switch_inline_query_chosen_chat", "copy_text", "callback_game", "pay",
}

func checkInlineButton(raw json.RawMessage) *apiError {
	var button inlineButton
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return badRequest("can't parse inline keyboard button: InlineKeyboardButton must be an Object")
	}
	if err := json.Unmarshal(raw, &button); err != nil {
		return badRequest("can't parse inline keyboard button: text, url and callback_data must be of type String")
	}
	if strings.TrimSpace(button.Text) == "" {
		return badRequest("inline keyboard button text must be non-empty")
	}
	switch {
	case button.URL != nil:
		return checkButtonURL(*button.URL)
	case button.CallbackData != nil:
		if n := len(*button.CallbackData); n < 1 || n > maxCallbackData {
			return badRequest("BUTTON_DATA_INVALID")
		}
		return nil
	}
	for _, action := range otherActions {
		if _, has := all[action]; has {
			return nil
		}
	}
	return badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
}

func checkButtonURL(address string) *apiError {
	if _, isUser := markup.UserOfLink(address); isUser {
		return nil
	}
	if _, usable := markup.CheckedLink(address); usable {
		return nil
	}
	why := "Wrong HTTP URL"
	switch u, err := url.Parse(address); {
	case strings.TrimSpace(address) == "":
		why = "URL host is empty"
	case err == nil && strings.Contains(address, "://") && u.Scheme != "http" && u.Scheme != "https":
		why = "Unsupported URL protocol"
	}
	return badRequest("inline keyboard button URL '%s' is invalid: %s", address, why)
}

// checkReplyKeyboard checks a keyboard that replaces the customer's own.
func checkReplyKeyboard(list []json.RawMessage) *apiError {
	for _, raw := range list {
		var row []json.RawMessage
		if err := json.Unmarshal(raw, &row); err != nil {
			return badRequest("can't parse reply keyboard: a row must be an Array")
		}
		for _, raw := range row {
			var button struct {
				Text string `json:"text"`
			}
			if json.Unmarshal(raw, &button.Text) != nil && json.Unmarshal(raw, &button) != nil {
				return badRequest("can't parse keyboard button: KeyboardButton must be an Object")
			}
			if strings.TrimSpace(button.Text) == "" {
				return badRequest("keyboard button text must be non-empty")
			}
		}
	}
	return nil
}
