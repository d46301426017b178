package sandbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// suffer works out a call that a fault has struck.
func (c *call) suffer(f Fault, broken *apiError) answer {
	r := f.Respond
	if r.Hang {
		c.hang()
		return answer{lost: true, invented: true}
	}
	if !c.world.sleepUntil(c.world.clock.now().Add(r.Delay)) {
		return lostAnswer
	}
	switch {
	case r.Drop == DropBefore:
		return answer{lost: true, invented: true}
	case r.Drop == DropAfter:
		done := c.process(broken)
		done.lost = true
		return done
	case !r.answers():
		return c.process(broken)
	}
	a := r.answer()
	a.invented = true
	if a.status == http.StatusTooManyRequests && r.RetryAfter != nil {
		c.announce(*r.RetryAfter)
	}
	return a
}

// hang waits for the client to go away or for the world to end.
func (c *call) hang() {
	select {
	case <-c.client:
	case <-c.world.ctx.Done():
	}
}

// announce notes a wait that a fault announced, so that a message sent in spite
// of it is counted like any other violation. Waits of other methods are not
// noted, because only messages are under the limits.
func (c *call) announce(seconds float64) {
	if !c.method.delivers || c.record.ChatID == 0 || !(seconds > 0) {
		return
	}
	wait := time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	c.bot.limiter.announce(c.record.ChatID, c.caller, w.clock.now(), wait)
}

// answer is the fault's own answer.
func (r Respond) answer() answer {
	e := &apiError{code: r.status(), description: r.Description, migrateTo: r.MigrateToChatID}
	if r.RetryAfter != nil {
		e.retryAfter = json.Number(strconv.FormatFloat(*r.RetryAfter, 'f', -1, 64))
	}
	if r.Body != nil {
		return answer{
			status:      e.code,
			contentType: r.contentType(),
			retryAfter:  e.retryAfter.String(),
			body:        []byte(*r.Body),
		}
	}
	if e.code < http.StatusMultipleChoices {
		a := success(true)
		a.status = e.code
		return a
	}
	if e.description == "" {
		e.description = e.usualDescription()
	}
	return e.answer()
}

func (r Respond) status() int {
	switch {
	case r.Status != 0:
		return r.Status
	case r.Body != nil:
		return http.StatusOK
	case r.RetryAfter != nil:
		return http.StatusTooManyRequests
	default:
		return http.StatusBadRequest
	}
}

func (r Respond) contentType() string {
	body := strings.TrimSpace(*r.Body)
	switch {
	case r.ContentType != "":
		return r.ContentType
	case strings.HasPrefix(body, "{"):
		return "application/json"
	case strings.HasPrefix(body, "<"):
		return "text/html"
	default:
		return "text/plain; charset=utf-8"
	}
}

// usualDescription is what Telegram says most often with a code.
func (e *apiError) usualDescription() string {
	switch e.code {
	case http.StatusBadRequest:
		if e.migrateTo != 0 {
			return "Bad Request: group chat was upgraded to a supergroup chat"
		}
	case http.StatusForbidden:
		return "Forbidden: bot was blocked by the user"
	case http.StatusConflict:
		return "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
	case http.StatusMisdirectedRequest:
		return "Misdirected Request: unallowed token specified"
	case http.StatusTooManyRequests:
		if e.retryAfter != "" {
			return "Too Many Requests: retry after " + e.retryAfter.String()
		}
	}
	if text := http.StatusText(e.code); text != "" {
		return text
	}
	return "Error " + strconv.Itoa(e.code)
}
