package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a page in a headless Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex // guards the field below
	scripts []string   // what ran that should not have, and what failed
}

// browserWait is how long a test waits for what must happen.
const browserWait = time.Minute

// newBrowser starts the Chromium of the system; without one the test is skipped.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is missing: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	ctx, stop := context.WithTimeout(t.Context(), browserWait)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.watch); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return b
}

// watch notes what a well-behaved page never does.
func (b *browser) watch(event any) {
	var what string
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		what = "a dialog: " + e.Message
	case *runtime.EventExceptionThrown:
		what = "an exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			what += " " + e.ExceptionDetails.Exception.Description
		}
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scripts = append(b.scripts, what)
}

// quiet checks that nothing was noted.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.scripts {
		b.t.Errorf("the page had %s", what)
	}
}

func (b *browser) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.do("open the page", chromedp.EmulateViewport(1280, 800), chromedp.Navigate(url))
}

// press clicks the element that a selector finds, once it is there.
func (b *browser) press(selector string) {
	b.t.Helper()
	b.until("exists(" + quote(selector) + ")")
	b.do("press "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// enter types a text into a field and ends it with Enter.
func (b *browser) enter(selector, text string) {
	b.t.Helper()
	b.do("type into "+selector, chromedp.SendKeys(chromedp.CSS(selector), text+"\r"))
}

// typeKey presses one key of a character, as a keyboard does: the page may keep
// the character from being typed.
func (b *browser) typeKey(character string) {
	b.t.Helper()
	for _, event := range []input.DispatchKeyEventParams{
		{Type: input.DispatchKeyEventTypeKeyDown, Key: character, Text: character},
		{Type: input.DispatchKeyEventTypeKeyUp, Key: character},
	} {
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, event); err != nil {
			b.t.Fatalf("type %s: %v", character, err)
		}
	}
}

// helpers are what conditions are written with.
const helpers = `
	const text = (selector) => document.querySelector(selector)?.innerText ?? "";
	const exists = (selector) => document.querySelector(selector) !== null;
	const last = (selector) => [...document.querySelectorAll(selector)].at(-1)?.innerText ?? "";`

// until waits for the page to satisfy a condition, a JavaScript expression. It
// looks again whenever something in the page changes.
func (b *browser) until(condition string) {
	b.t.Helper()
	script := fmt.Sprintf(`new Promise((resolve) => {
		%s
		const holds = () => Boolean(%s);
		const look = () => { if (holds()) { observer.disconnect(); resolve(true); } };
		const observer = new MutationObserver(look);
		observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		look();
	})`, helpers, condition)
	ctx, cancel := context.WithTimeout(b.ctx, browserWait/3)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise)); err != nil {
		seen, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
		b.t.Fatalf("waiting for %s: %v; the page says:\n%s", condition, err, seen)
	}
}

// value evaluates a JavaScript expression.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf("(() => {%s; return %s })()", helpers, expression)))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// quote makes a JavaScript string.
func quote(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return strings.ReplaceAll(string(quoted), "</", `<\/`)
}
