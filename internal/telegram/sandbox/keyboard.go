package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"

	"notifier/internal/telegram/sandbox/markup"
)

// The bounds of keyboards. Of rows with more buttons, and of keyboards with more
// in all, the rest is ignored (tdlib, ReplyMarkup.cpp).
const (
	maxButtons      = 100 // of an inline keyboard; Telegram's servers refuse more
	maxButtonsOfRow = 12
	maxButtonsInAll = 300
	maxCallbackData = 64 // bytes
	maxCopiedText   = 256
)

// replyMarkup is reply_markup as it was written: at most one of its parts counts.
type replyMarkup struct {
	keyboard [][]replyButton  // in place of the customer's own keyboard
	inline   [][]inlineButton // below the message
	remove   bool             // takes such a keyboard away
	force    bool             // makes the customer answer
	options  keyboardOptions
}

// keyboardOptions are how a keyboard in place of the customer's own looks.
type keyboardOptions struct {
	Resize      bool   `json:"resize_keyboard,omitempty"`
	OneTime     bool   `json:"one_time_keyboard,omitempty"`
	Persistent  bool   `json:"is_persistent,omitempty"`
	Selective   bool   `json:"selective,omitempty"`
	Placeholder string `json:"input_field_placeholder,omitempty"`
}

// markup reads reply_markup. What it says is judged when the chat is known.
func (p params) markup() (*replyMarkup, *apiError) {
	text := strings.TrimSpace(p.values["reply_markup"])
	if text == "" {
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	object, err := parseObject([]byte(text))
	if err != nil {
		return nil, badRequest("object expected as reply markup")
	}
	read, err := readMarkup(object)
	if err != nil {
		return nil, telegramRefusal(err)
	}
	return read, nil
}

func readMarkup(object jsonObject) (*replyMarkup, error) {
	var m replyMarkup
	var err error
	if m.keyboard, err = buttonRows(object, "keyboard", "keyboard button", "", readReplyButton); err != nil {
		return nil, err
	}
	if m.inline, err = buttonRows(object, "inline_keyboard", "inline keyboard button", " of the InlineKeyboardMarkup",
		readInlineButton); err != nil {
		return nil, err
	}
	var flags [9]bool
	for i, name := range []string{"hide_keyboard", "remove_keyboard", "personal_keyboard", "selective",
		"force_reply_keyboard", "force_reply", "resize_keyboard", "one_time_keyboard", "is_persistent"} {
		if i >= 6 && len(m.keyboard) == 0 {
			break // these are looked at only with a keyboard
		}
		if flags[i], err = object.flag(name); err != nil {
			return nil, err
		}
	}
	m.remove, m.force = flags[0] || flags[1], flags[4] || flags[5]
	m.options = keyboardOptions{Resize: flags[6], OneTime: flags[7], Persistent: flags[8], Selective: flags[2] || flags[3]}
	m.options.Placeholder, err = object.text("input_field_placeholder")
	return &m, err
}

// buttonRows reads an array of arrays of buttons.
func buttonRows[B any](object jsonObject, name, what, whose string, read func(json.RawMessage) (B, error)) ([][]B, error) {
	list, err := object.list(name)
	if err != nil {
		return nil, err
	}
	var rows [][]B
	for _, raw := range list {
		var buttons []json.RawMessage
		if kindOfJSON(raw) != "Array" || json.Unmarshal(raw, &buttons) != nil {
			return nil, telegramErrorf("Field \"%s\"%s must be an Array of Arrays", name, whose)
		}
		var row []B
		for _, button := range buttons {
			b, err := read(button)
			if err != nil {
				return nil, telegramErrorf("Can't parse %s: %v", what, err)
			}
			row = append(row, b)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// shown is what a message shows of its markup: the inline keyboard below it, as
// JSON of the Bot API, or what happens to the customer's own keyboard.
type shownMarkup struct {
	inline   json.RawMessage
	keyboard json.RawMessage
	removes  bool // the keyboard in place of the customer's own
}

// judge checks markup for a chat. With onlyInline other keyboards are refused.
func (m *replyMarkup) judge(c *chat, onlyInline bool) (shownMarkup, *apiError) {
	var shown shownMarkup
	var err error
	switch {
	case m == nil:
	case len(m.keyboard) > 0 && !onlyInline:
		shown.keyboard, err = m.judgeReply(c)
	case len(m.inline) > 0 && len(m.keyboard) == 0:
		shown.inline, err = m.judgeInline()
	case len(m.keyboard) > 0, m.remove && onlyInline, m.force && onlyInline:
		return shown, badRequest("inline keyboard expected")
	case m.remove:
		shown.keyboard, shown.removes = encode(map[string]any{"remove_keyboard": true}), true
	case m.force:
		shown.keyboard = encode(struct {
			ForceReply bool `json:"force_reply"`
			keyboardOptions
		}{true, m.options})
	}
	if err != nil {
		return shownMarkup{}, telegramRefusal(err)
	}
	return shown, nil
}

// cleaned is a button's text as the server stores it; empty means that the
// button is ignored, and an error that nothing is left of it.
func cleanedButton(text, what string) (string, error) {
	fixed, _ := markup.Text{Text: text}.Fix(markup.Rules{MayBeEmpty: true})
	if strings.Trim(text, "\r") == "" {
		return "", fmt.Errorf("%s text must be non-empty", what)
	}
	if fixed.Text == "" {
		return text, nil // white space is a text
	}
	return fixed.Text, nil
}

// limitRow tells whether more buttons are ignored.
func limitRow(inRow, inAll int) bool { return inRow >= maxButtonsOfRow || inAll >= maxButtonsInAll }
