package sandbox

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var screenshots = flag.Bool("screenshots", false, "take the pictures of the guide anew")

// The pictures of the guide, of the page on a desk and on a phone, can be taken;
// with -screenshots those in docs/images are.
func TestScreenshots(t *testing.T) {
	folder := t.TempDir()
	if *screenshots {
		folder = "../../../docs/images"
	}
	b := newBrowser(t)
	r := newRig(t, Options{})
	fillForPictures(r)
	for name, c := range map[string]struct {
		width, height int64
		address       string
		there         string // what must be shown
	}{
		"sandbox-desktop":    {1440, 900, "#/chat/7900000001", `document.querySelectorAll("#lines li").length > 5`},
		"sandbox-calls":      {1440, 900, "#/calls", `exists("#calls tbody tr")`},
		"sandbox-call":       {1440, 900, "#/call/2", `document.querySelector("#call").open`},
		"sandbox-phone":      {390, 844, "#/chat/7900000001", `document.querySelectorAll("#lines li").length > 5`},
		"sandbox-phone-list": {390, 844, "#/", `exists("#chats button")`},
	} {
		b.do("open", chromedp.EmulateViewport(c.width, c.height), chromedp.Navigate("about:blank"), chromedp.Navigate(r.url+"/"+c.address))
		b.until(c.there)
		picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fillForPictures is a day in a shop.
func fillForPictures(r *rig) {
	const anna = 7900000001
	r.done(r.SetProfile(anna, Profile{FirstName: "Anna", LastName: "Ivanova", Username: "anna", Language: "en"}))
	r.done(r.Start(anna, "A-1001"))
	send := func(chatID int64, parameters fields) {
		parameters["chat_id"], parameters["parse_mode"] = chatID, "HTML"
		r.call("sendMessage", parameters)
		r.done(r.Forward(1100 * 1000 * 1000))
	}
	send(anna, fields{"text": "<b>Welcome, Anna.</b>\nWe tell you here how your order <code>A-1001</code> is getting on.",
		"reply_markup": `{"keyboard":[["My orders"],[{"text":"Send my number","request_contact":true}]],"resize_keyboard":true}`})
	r.done(r.Write(anna, "When will it come?"))
	send(anna, fields{"text": "On <b>Friday</b>, between 10 and 12.", "reply_parameters": fields{"message_id": 3, "quote": "When"},
		"reply_markup": `{"inline_keyboard":[[{"text":"Fine","callback_data":"ok"},{"text":"Track it","url":"https://shop.example/a-1001"}]]}`})
	r.done(r.Press(anna, 4, "ok"))
	for i := range int64(6) {
		send(7900000010+i, fields{"text": "Your order is <i>on its way</i>."})
	}
	r.send(anna)
	r.send(anna)
	r.done(r.Block(7900000012))
}
