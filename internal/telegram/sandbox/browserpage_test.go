package sandbox

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"notifier/internal/telegram/sandbox/markup"
)

// A person watches a bot at work and gets in its way.
func TestPageInABrowser(t *testing.T) {
	b := newBrowser(t)
	r := newRig(t, Options{})
	r.limit(Limits{})
	b.open(r.url)
	b.until(`text("#welcome").includes("Point your bot at ` + r.url + `")`)

	r.send(7) // arrives without a reload
	b.until(`text('[data-chat="7"] .badge') === "1"`)
	b.press(`[data-chat="7"]`)
	b.until(`last("#lines .bot .text") === "hello" && !exists('[data-chat="7"] .badge')`)
	r.call("sendMessage", fields{
		"chat_id": 7, "text": "<b>Ready</b> <tg-spoiler>tea</tg-spoiler>", "parse_mode": "HTML",
		"reply_markup": `{"inline_keyboard":[[{"text":"Got it","callback_data":"got:1"}]]}`,
	})
	b.until(`last("#lines .bot .text b") === "Ready" && exists("#lines .spoiler")`)

	b.press(".keyboard button")
	b.until(`last("#lines .notice").includes("pressed")`)
	b.enter("#payload", "https://t.me/shop_bot?start=order-1_x")
	b.until(`last("#lines .customer .text") === "/start order-1_x"`)
	b.enter("#text", "Thank you")
	b.until(`last("#lines .customer .text") === "Thank you"`)
	list := r.updates(nil)
	if len(list) != 3 || list[0].CallbackQuery.Data != "got:1" || list[1].Message.Text != "/start order-1_x" {
		t.Errorf("the bot got %+v", list)
	}

	b.press(`#acts [data-key="block"]`)
	b.until(`text("#state").includes("has blocked the bot")`)
	r.refused(r.send(7), 403, "Forbidden: bot was blocked by the user")
	b.until(`last("#lines .failure").includes("403 Forbidden: bot was blocked by the user")`)
	b.press(`#acts [data-key="unblock"]`)
	b.until(`text("#state").endsWith("open")`)
	r.accepted(r.send(7), nil)

	b.press("#presets button") // 429 for 10 s
	b.until(`text("#faults").includes("429 retry after 10")`)
	r.refused(r.send(7), 429, "Too Many Requests: retry after 10")
	b.until(`text("#refusals").includes("sendMessage in 7") && text("#rate").includes("1 × 429") && exists("#strip .refused")`)
	b.press("#refusals button")
	b.until(`text("#call").includes('"retry_after": 10') && text("#call .curl").includes("--data-urlencode 'chat_id=7'")`)
	b.press("#call .close")
	b.press("#faults button")
	b.until(`!exists("#faults li")`)
	r.accepted(r.send(7), nil)

	if foreign := value[[]string](b, `performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith(location.origin))`); len(foreign) > 0 {
		t.Errorf("the page loaded %v", foreign)
	}
	b.quiet()
}

// Whatever a customer or a bot writes, it stays text.
func TestTextsNeverRunAsScript(t *testing.T) {
	b := newBrowser(t)
	r := newRig(t, Options{})
	r.limit(Limits{})
	const script, image = `<script>hacked = 1</script>`, `<img src="x" onerror="hacked = 1">`
	r.done(r.Write(7, script))
	r.done(r.Write(7, image))
	r.done(r.Start(7, `"><svg onload="hacked=1">`))
	r.call("sendMessage", fields{
		"chat_id": 7, "text": script + image, "entities": []markup.Entity{
			{Type: "bold", Length: 12}, {Type: "pre", Offset: 12, Length: 20, Language: `"><img src=x onerror=hacked=1>`},
			{Type: "text_link", Length: 5, URL: "https://e.com/?\"onclick=hacked=1"},
		},
		"reply_markup": map[string]any{"inline_keyboard": [][]fields{{{"text": image, "callback_data": image}}}},
	})
	r.upload("sendDocument", "document", 3, map[string]string{"chat_id": "7", "caption": script})
	r.done(r.Press(7, 4, image))
	r.fault(Fault{Method: "sendChatAction", Respond: Respond{Status: 500, Description: script}})
	r.call("sendChatAction", fields{"chat_id": 7, "action": script})

	b.open(r.url)
	b.until(`exists('[data-chat="7"]')`)
	b.enter("#search", script)
	b.until(`text("#chats").includes("hacked")`)
	b.press(`[data-chat="7"]`)
	b.until(`document.querySelectorAll("#lines li").length === 7`)
	b.press("#lines .bot .raw")
	b.until(`text("#call").includes("onerror")`)
	b.do("press links and buttons", chromedp.Evaluate[chromedp.Void](
		`document.querySelectorAll("#lines .text a, #lines .keyboard button").forEach((e) => e.click())`))
	b.until(`document.querySelectorAll("#lines .notice").length === 2`)
	if value[bool](b, `typeof hacked !== "undefined"`) {
		t.Error("a script ran")
	}
	if n := value[int](b, `document.querySelectorAll("#lines :is(img, svg, script), #chats :is(img, svg, script), dialog :is(img, svg, script)").length`); n > 0 {
		t.Errorf("%d elements were made from texts", n)
	}
	if said := value[string](b, `text("#lines")`); !strings.Contains(said, script) || !strings.Contains(said, image) {
		t.Errorf("the texts are not shown: %s", said)
	}
	b.quiet()
}

// Everything can be reached without a mouse, and one room at a time on a phone.
func TestPageByKeyboardOnAPhone(t *testing.T) {
	b := newBrowser(t)
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.send(7)
	r.send(8)
	b.open(r.url)
	b.do("turn into a phone", chromedp.EmulateViewport(390, 844), chromedp.Reload())
	b.until(`exists('[data-chat="8"]')`)
	b.typeKey("/")
	b.do("search", chromedp.KeyEvent("Customer"))
	b.until(`document.querySelector("#search").value === "Customer"`)
	b.do("go down the list", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.until(`text("#name") === "Customer 7"`)
	visible := func(selector string) bool {
		return value[bool](b, `document.querySelector("`+selector+`").checkVisibility()`)
	}
	if !visible("#chat") || visible("#side") || visible("#panel") {
		t.Error("more than the chat is shown")
	}
	if wide := value[int](b, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("the page is %d wide", wide)
	}
	b.do("go back", chromedp.KeyEvent(kb.Escape))
	b.until(`document.activeElement.dataset.chat === "7"`)
	b.press("#panel-toggle")
	if !visible("#panel") {
		t.Error("the panel is not shown")
	}
	b.do("close the panel", chromedp.KeyEvent(kb.Escape))
	b.until(`!document.querySelector("#panel").checkVisibility()`)
	b.quiet()
}

// Every chat, message and call has an address, which survives a reload.
func TestAddressesInABrowser(t *testing.T) {
	b := newBrowser(t)
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.done(r.Write(7, "a question"))
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "an answer", "reply_parameters": fields{"message_id": 1, "quote": "question"},
		"reply_markup": `{"keyboard":[["Yes"],[{"text":"My number","request_contact":true}]]}`}), nil)
	b.open(r.url + "/#/chat/7/message/1")
	b.until(`exists("#lines .found") && text("#lines .quote").includes("question")`)
	b.do("reload", chromedp.Reload())
	b.until(`text("#name") === "Customer 7" && exists("#lines .found")`)

	b.press("#own-keyboard button")
	b.until(`last("#lines .customer .text") === "Yes"`)
	b.do("press the second button", chromedp.Click(chromedp.CSS("#own-keyboard div:nth-child(2) button")))
	b.until(`text("#lines").includes("👤 Customer 7")`)

	b.press("#more")
	b.until(`document.querySelector("#customer").open`)
	b.do("name the customer", chromedp.SendKeys(chromedp.CSS("#customer-firstName"), "Anna"))
	b.do("save", chromedp.Click(chromedp.CSS("#customer form button")))
	b.until(`text("#name") === "Anna"`)

	r.refused(r.call("sendMessage", fields{"chat_id": 7}), 400, "Bad Request: message text is empty")
	b.press("#calls-link")
	b.until(`document.querySelectorAll("#calls tbody tr").length === 2`)
	b.do("filter", chromedp.SendKeys(chromedp.CSS(`#calls input[aria-label="status"]`), "400\r"))
	b.until(`document.querySelectorAll("#calls tbody tr").length === 1 && location.hash === "#/calls?status=400"`)
	r.call("sendMessage", fields{"chat_id": 8}) // one more appears by itself
	b.until(`document.querySelectorAll("#calls tbody tr").length === 2`)
	b.press("#calls tbody tr:last-child button")
	b.until(`text("#call").includes("message text is empty")`)
	b.do("make it again", chromedp.Click(chromedp.CSS("#call h3 button:nth-of-type(2)")))
	b.until(`text("#call h2").includes("#4")`)
	b.press("#call .close")
	if n := r.Stats().Calls; n != 4 {
		t.Errorf("%d calls", n)
	}
	b.do("put the clock forward", chromedp.Click(chromedp.CSS("#panel .steps button:nth-child(2)")))
	b.until(`text("#panel").includes("60 minutes ahead")`)
	b.quiet()
}
