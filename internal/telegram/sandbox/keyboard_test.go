package sandbox

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeyboards(t *testing.T) {
	button := func(fields string) string { return fmt.Sprintf(`{"inline_keyboard":[[{%s}]]}`, fields) }
	for markup, want := range map[string]string{ // after "Bad Request: "; empty means accepted
		button(`"text":"Pay","url":"https://shop.example/pay?o=1"`):             "",
		button(`"text":"Pay","url":"shop.example"`):                             "",
		button(`"text":"Anna","url":"tg://user?id=7"`):                          "",
		button(`"text":"OK","callback_data":"` + strings.Repeat("x", 64) + `"`): "",
		button(`"text":"OK","callback_data":"` + strings.Repeat("ü", 32) + `"`): "",
		button(`"text":"Copy","copy_text":{"text":"x"}`):                        "",
		`{"inline_keyboard":[]}`:                                                "",
		`{"keyboard":[["Yes",{"text":"No"}]],"resize_keyboard":true}`:           "",
		`{"remove_keyboard":true}`:                                              "",
		`{"force_reply":true}`:                                                  "",

		`{`:                                      "can't parse reply keyboard markup JSON object",
		`[]`:                                     "object expected as reply markup",
		`{"inline_keyboard":{}}`:                 "can't parse reply markup: a keyboard must be an Array of Arrays",
		`{"inline_keyboard":[{"text":"x"}]}`:     "can't parse inline keyboard: a row must be an Array",
		`{"inline_keyboard":[["x"]]}`:            "can't parse inline keyboard button: InlineKeyboardButton must be an Object",
		button(`"text":7,"url":"https://a.b"`):   "can't parse inline keyboard button: text, url and callback_data must be of type String",
		button(`"text":" ","callback_data":"x"`): "inline keyboard button text must be non-empty",
		button(`"callback_data":"x"`):            "inline keyboard button text must be non-empty",
		button(`"text":"x"`):                     "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
		button(`"text":"x","callback_data":""`):  "BUTTON_DATA_INVALID",
		button(`"text":"x","callback_data":"` + strings.Repeat("ü", 33) + `"`): "BUTTON_DATA_INVALID",
		button(`"text":"x","url":""`):                                          "inline keyboard button URL '' is invalid: URL host is empty",
		button(`"text":"x","url":"http://localhost:8080/"`):                    "inline keyboard button URL 'http://localhost:8080/' is invalid: Wrong HTTP URL",
		button(`"text":"x","url":"ftp://a.b/"`):                                "inline keyboard button URL 'ftp://a.b/' is invalid: Unsupported URL protocol",
		`{"keyboard":[[{"text":""}]]}`:                                         "keyboard button text must be non-empty",
		`{"keyboard":["x"]}`:                                                   "can't parse reply keyboard: a row must be an Array",
		`{"keyboard":[[7]]}`:                                                   "can't parse keyboard button: KeyboardButton must be an Object",
		`{"inline_keyboard":[[` + strings.TrimSuffix(strings.Repeat(`{"text":"x","pay":true},`, 101), ",") + `]]}`: "reply markup is too long",
	} {
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
