package sandbox

import (
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe-core finds nothing in the page, in any of its rooms, at either width,
// light and dark.
func TestAxeFindsNothing(t *testing.T) {
	const path = "../../../examples/sandbox/testdata/node/node_modules/axe-core/axe.min.js"
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Skip("axe-core is missing: npm ci in examples/sandbox/testdata/node")
	}
	b := newBrowser(t)
	r := newRig(t, Options{})
	r.limit(Limits{})
	fillForAxe(r)
	for _, scheme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		b.axe(r, string(axe), scheme)
	}
}

// axe runs axe-core in all rooms of the page.
func (b *browser) axe(r *rig, axe, scheme string) {
	for _, width := range []int64{1280, 390} {
		for _, address := range []string{"#/", "#/chat/7", "#/calls", "#/call/2"} {
			b.do("open", chromedp.EmulateViewport(width, 800), chromedp.Navigate("about:blank"), chromedp.Navigate(r.url+"/"+address))
			b.until(`exists('[data-chat="7"]') && (location.hash !== "#/chat/7" || exists("#lines li"))`)
			if address == "#/calls" {
				b.until(`exists("#calls tbody tr")`)
			}
			b.do("load axe-core", chromedp.Evaluate[chromedp.Void](axe))
			script := `axe.run().then((r) => r.violations.map((v) =>
				v.id + " (" + v.impact + "): " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")))`
			found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](script, chromedp.EvalAwaitPromise))
			if err != nil {
				b.t.Fatal(err)
			}
			for _, violation := range found {
				b.t.Errorf("%s at %d, %s: %s", address, width, scheme, violation)
			}
		}
	}
}

// fillForAxe makes one of everything that the page shows.
func fillForAxe(r *rig) {
	r.done(r.Write(7, "a question"))
	r.accepted(r.call("sendMessage", fields{
		"chat_id": 7, "text": "<b>x</b> <tg-spoiler>y</tg-spoiler> <a href='https://e.com'>z</a><pre>p</pre>", "parse_mode": "HTML",
		"reply_parameters": fields{"message_id": 1},
		"reply_markup":     `{"inline_keyboard":[[{"text":"OK","callback_data":"1"},{"text":"Go","url":"https://e.com"}]]}`,
	}), nil)
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "k", "reply_markup": `{"keyboard":[["Yes"]]}`}), nil)
	r.accepted(r.call("sendLocation", fields{"chat_id": 7, "latitude": 1, "longitude": 2}), nil)
	r.fault(Fault{Method: "sendMessage", Times: 5, Respond: Respond{Status: 500}})
	r.call("sendMessage", fields{"chat_id": 7, "text": "lost"})
	for chatID := range int64(7) {
		r.send(-4200 - chatID)
	}
	r.done(r.Block(8))
}
