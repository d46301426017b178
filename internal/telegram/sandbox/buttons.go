package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"notifier/internal/telegram/sandbox/markup"
)

// inlineButton is a button below a message: its text and what it does.
type inlineButton struct {
	text   string
	action string // the name of the field that says what it does
	value  any    // that field, a string or an object
	style  string
	icon   string
}

// readInlineButton reads a button in the order in which the server looks for
// what it does.
func readInlineButton(raw json.RawMessage) (inlineButton, error) {
	object, err := parseObject(raw)
	if err != nil {
		return inlineButton{}, telegramError("InlineKeyboardButton must be an Object")
	}
	var b inlineButton
	if b.text, err = object.requiredText("text"); err != nil {
		return b, err
	}
	if b.icon, b.style, err = buttonLooks(object); err != nil {
		return b, err
	}
	for _, name := range []string{"url", "callback_data"} {
		value, err := object.text(name)
		if err != nil {
			return b, err
		}
		if value != "" {
			b.action, b.value = name, value
			return b, nil
		}
	}
	return b, b.readRarer(object)
}

// rarerActions are what a button can do besides opening an address and being
// pressed, in the order in which they are looked for; those with an object have
// the name of a string it must contain.
var rarerActions = []struct{ name, required string }{
	{"callback_game", ""}, {"pay", ""}, {"switch_inline_query", "-"}, {"switch_inline_query_chosen_chat", "?"},
	{"switch_inline_query_current_chat", "-"}, {"login_url", "url"}, {"web_app", "url"}, {"copy_text", "text"},
}

func (b *inlineButton) readRarer(object jsonObject) error {
	i := slices.IndexFunc(rarerActions, func(a struct{ name, required string }) bool { return object.has(a.name) })
	if i < 0 {
		return telegramError("Text buttons are unallowed in the inline keyboard")
	}
	action := rarerActions[i]
	b.action = action.name
	switch action.required {
	case "":
		b.value = object[action.name]
	case "-":
		text, err := object.requiredText(action.name)
		b.value = text
		return err
	default:
		inner, err := object.requiredObject(action.name)
		if err != nil {
			return err
		}
		b.value = inner
		if action.required != "?" {
			_, err = inner.requiredText(action.required)
		}
		return err
	}
	return nil
}

// buttonLooks reads what every button can have.
func buttonLooks(object jsonObject) (icon, style string, err error) {
	if object.has("icon_custom_emoji_id") {
		id, err := object.requiredLong("icon_custom_emoji_id")
		if err != nil {
			return "", "", err
		}
		icon = strconv.FormatInt(id, 10)
	}
	if style, err = object.text("style"); err != nil {
		return "", "", err
	}
	style = strings.ToLower(style)
	if !slices.Contains([]string{"", "default", "primary", "danger", "success"}, style) {
		return "", "", errors.New("invalid button style specified")
	}
	return icon, style, nil
}

// judgeInline checks an inline keyboard and gives it as a message shows it.
func (m *replyMarkup) judgeInline() (json.RawMessage, error) {
	rows := [][]map[string]any{}
	inAll := 0
	for _, row := range m.inline {
		var shown []map[string]any
		for _, button := range row {
			if button.text == "" && button.icon == "" {
				continue
			}
			view, err := button.judge()
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
	switch {
	case inAll > maxButtons:
		return nil, errors.New("reply markup is too long")
	case inAll == 0:
		return nil, nil
	}
	return encode(map[string]any{"inline_keyboard": rows}), nil
}

// judge checks one button and gives its fields.
func (b inlineButton) judge() (map[string]any, error) {
	text, err := cleanedButton(b.text, "inline keyboard button")
	if err != nil {
		return nil, err
	}
	view := map[string]any{"text": text, b.action: b.value}
	switch b.action {
	case "url":
		link := b.value.(string) //nolint:forcetypeassert // read as one
		if id, isUser := markup.UserOfLink(link); isUser {
			view["url"] = "tg://user?id=" + strconv.FormatInt(id, 10)
			break
		}
		if view["url"], err = checkedURL(link, "Inline keyboard button"); err != nil {
			return nil, err
		}
	case "callback_data":
		if len(b.value.(string)) > maxCallbackData { //nolint:forcetypeassert // read as one
			return nil, errors.New("BUTTON_DATA_INVALID")
		}
	case "web_app", "login_url":
		err = checkSecureURL(b.value.(jsonObject), map[string]string{ //nolint:forcetypeassert // read as one
			"web_app": "Web App", "login_url": "login"}[b.action])
	case "copy_text":
		copied, _ := b.value.(jsonObject).text("text") //nolint:forcetypeassert // read as one
		if n := utf8.RuneCountInString(copied); n < 1 || n > maxCopiedText {
			err = errors.New("BUTTON_COPY_TEXT_INVALID")
		}
	}
	if b.style != "" && b.style != "default" {
		view["style"] = b.style
	}
	if b.icon != "" {
		view["icon_custom_emoji_id"] = b.icon
	}
	return view, err
}

// checkedURL gives a link as it is stored, or says why what kind of button
// cannot have it.
func checkedURL(link, button string) (string, error) {
	checked, err := markup.CheckLink(link)
	if err != nil {
		return "", fmt.Errorf("%s URL '%s' is invalid: %w", button, link, err)
	}
	return checked, nil
}

// checkSecureURL checks the address of a web application or a login.
func checkSecureURL(object jsonObject, kind string) error {
	link, _ := object.text("url")
	if _, isUser := markup.UserOfLink(link); isUser {
		where := "Web App URL"
		if kind == "login" {
			where = "login URL"
		}
		return telegramErrorf("Link to a user can't be used in %s buttons", where)
	}
	checked, err := checkedURL(link, "Inline keyboard button "+kind)
	if err != nil {
		return err
	}
	if u, err := url.Parse(checked); err != nil || u.Scheme != "https" {
		return telegramErrorf("Inline keyboard button %s URL '%s' is invalid: Only HTTPS links are allowed", kind, link)
	}
	return nil
}
