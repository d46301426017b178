package sandbox

import (
	"fmt"
	"strings"
	"testing"
)

// oneButton makes a keyboard of one button.
func oneButton(fields string) string { return fmt.Sprintf(`{"inline_keyboard":[[{%s}]]}`, fields) }

// keyboards are reply_markup and what they are refused with, after "Bad Request: ";
// empty means accepted.
var keyboards = map[string]string{
	oneButton(`"text":"Pay","url":"https://shop.example/pay?o=1"`):             "",
	oneButton(`"text":"Pay","url":"shop.example"`):                             "",
	oneButton(`"text":"Anna","url":"tg://user?id=7"`):                          "",
	oneButton(`"text":"OK","callback_data":"` + strings.Repeat("x", 64) + `"`): "",
	oneButton(`"text":"OK","callback_data":"` + strings.Repeat("ü", 32) + `"`): "",
	oneButton(`"text":"Copy","copy_text":{"text":"x"}`):                        "",
	`{"inline_keyboard":[]}`:                                                   "",
	`{"keyboard":[["Yes",{"text":"No"}]],"resize_keyboard":true}`:              "",
	`{"remove_keyboard":true}`:                                                 "",
	`{"force_reply":true}`:                                                     "",

	`{`:                                  "can't parse reply keyboard markup JSON object",
	`[]`:                                 "object expected as reply markup",
	`{"inline_keyboard":{}}`:             `field "inline_keyboard" must be of type Array`,
	`{"inline_keyboard":[{"text":"x"}]}`: `field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays`,
	`{"inline_keyboard":[["x"]]}`:        "can't parse inline keyboard button: InlineKeyboardButton must be an Object",
	oneButton(`"text":7,"url":"https://a.b"`):                                 "",
	oneButton(`"text":1,"callback_data":2`):                                   "",
	oneButton(`"text":"a","url":"","callback_data":"x"`):                      "",
	oneButton(`"text":"","callback_data":"x"`):                                "", // the button is ignored
	oneButton(`"text":"\r","callback_data":"x"`):                              "inline keyboard button text must be non-empty",
	oneButton(`"text":null,"callback_data":"x"`):                              `can't parse inline keyboard button: Field "text" must be of type String`,
	oneButton(`"callback_data":"x"`):                                          `can't parse inline keyboard button: Can't find field "text"`,
	oneButton(`"text":"x","web_app":{"url":"http://a.b"}`):                    "inline keyboard button Web App URL 'http://a.b' is invalid: Only HTTPS links are allowed",
	oneButton(`"text":"x","web_app":{}`):                                      `can't parse inline keyboard button: Can't find field "url"`,
	oneButton(`"text":"x","copy_text":{}`):                                    `can't parse inline keyboard button: Can't find field "text"`,
	oneButton(`"text":"x","url":"https://e.com/a b"`):                         "",
	oneButton(`"text":"x","url":"https://e.com/<x>"`):                         "",
	oneButton(`"text":"x","url":"https://e.com/%zz"`):                         "",
	oneButton(`"text":"x","url":"tg:resolve?domain=x"`):                       "",
	oneButton(`"text":"x","url":"tg:user?id=5"`):                              "",
	oneButton(`"text":"x","url":"https://[::1]/"`):                            "",
	oneButton(`"text":"x","url":"https://e.com:99999/"`):                      "inline keyboard button URL 'https://e.com:99999/' is invalid: Wrong port number specified in the URL",
	oneButton(`"text":"x","url":"http://"`):                                   "inline keyboard button URL 'http://' is invalid: URL host is empty",
	oneButton(`"text":"x","url":"//e.com"`):                                   "inline keyboard button URL '//e.com' is invalid: URL host is empty",
	oneButton(`"text":"x","url":"x y.com"`):                                   "inline keyboard button URL 'x y.com' is invalid: Disallowed character in URL host",
	oneButton(`"text":"x","url":"tel:+1"`):                                    "inline keyboard button URL 'tel:+1' is invalid: Wrong port number specified in the URL",
	oneButton(`"text":"x","url":"javascript:alert(1)"`):                       "inline keyboard button URL 'javascript:alert(1)' is invalid: Wrong port number specified in the URL",
	`{"keyboard":[["x"]],"resize_keyboard":"true"}`:                           `field "resize_keyboard" must be of type Boolean`,
	`{"remove_keyboard":"true"}`:                                              `field "remove_keyboard" must be of type Boolean`,
	oneButton(`"text":"x"`):                                                   "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
	oneButton(`"text":"x","callback_data":""`):                                "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
	oneButton(`"text":"x","callback_data":"` + strings.Repeat("ü", 33) + `"`): "BUTTON_DATA_INVALID",
	oneButton(`"text":"x","url":""`):                                          "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
	oneButton(`"text":"x","url":"http://localhost:8080/"`):                    "inline keyboard button URL 'http://localhost:8080/' is invalid: Wrong HTTP URL",
	oneButton(`"text":"x","url":"ftp://a.b/"`):                                "inline keyboard button URL 'ftp://a.b/' is invalid: Unsupported URL protocol",
	`{"keyboard":[[{"text":""}]]}`:                                            "", // ignored
	`{"keyboard":[["\r"]]}`:                                                   "keyboard button text must be non-empty",
	`{"keyboard":["x"]}`:                                                      `field "keyboard" must be an Array of Arrays`,
	`{"keyboard":[[7]]}`:                                                      "can't parse keyboard button: KeyboardButton must be a String or an Object",
	`{"inline_keyboard":[` + strings.TrimSuffix(strings.Repeat(`[{"text":"x","pay":true}],`, 101), ",") + `]}`: "reply markup is too long",
}

func TestKeyboards(t *testing.T) {
	for markup, want := range keyboards {
		r := newRig(t, Options{})
		answer := r.call("sendMessage", fields{"chat_id": 7, "text": "x", "reply_markup": markup})
		if want == "" {
			r.accepted(answer, nil)
		} else {
			r.refused(answer, 400, "Bad Request: "+want)
		}
	}
}

func TestKeyboardIsShown(t *testing.T) {
	r := newRig(t, Options{})
	keyboard := map[string]any{"inline_keyboard": [][]fields{{{"text": "OK", "callback_data": "1"}}, {}}}
	var result messageObject
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "x", "reply_markup": keyboard}), &result)
	want := `{"inline_keyboard":[[{"callback_data":"1","text":"OK"}]]}`
	if string(result.ReplyMarkup) != want || string(r.Messages()[0].ReplyMarkup) != want {
		t.Errorf("%s", result.ReplyMarkup)
	}
}

// An address is shown as Telegram stores it.
func TestButtonAddressIsNormalised(t *testing.T) {
	r := newRig(t, Options{})
	keyboard := map[string]any{"inline_keyboard": [][]fields{{{"text": "x", "url": "example.com"}}}}
	var result messageObject
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "x", "reply_markup": keyboard}), &result)
	if want := `{"inline_keyboard":[[{"text":"x","url":"http://example.com/"}]]}`; string(result.ReplyMarkup) != want {
		t.Errorf("%s", result.ReplyMarkup)
	}
}

// Some buttons ask what only one person can answer.
func TestRequestsInPrivateChatsOnly(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	contact := `{"keyboard":[[{"text":"x","request_contact":true}]]}`
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "x", "reply_markup": contact}), nil)
	r.refused(r.call("sendMessage", fields{"chat_id": -7, "text": "x", "reply_markup": contact}),
		400, "Bad Request: phone number can be requested in private chats only")
}

// An edit can only change the keyboard below the message.
func TestEditTakesInlineKeyboardsOnly(t *testing.T) {
	r := newRig(t, Options{})
	r.accepted(r.send(7), nil)
	for _, markup := range []string{`{"keyboard":[["x"]]}`, `{"remove_keyboard":true}`, `{"force_reply":true}`} {
		r.refused(r.call("editMessageText", fields{"chat_id": 7, "message_id": 1, "text": "new", "reply_markup": markup}),
			400, "Bad Request: inline keyboard expected")
	}
}
