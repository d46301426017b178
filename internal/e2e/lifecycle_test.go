package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// The whole life of a customer with the built program: an order without a chat, the link, the
// order's way, a block, its end, a stop and a new start. It is told once as it is, and once more
// for each step with the program killed right after it: nothing may be lost, and nothing come
// twice but what was in the air at the kill.
func TestTheStoryOfACustomerWithAKillAtEveryStep(t *testing.T) {
	for kill := range len(steps) + 1 {
		name := "no kill"
		if kill > 0 {
			name = "killed after: " + steps[kill-1].name
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runLifecycle(t, kill)
		})
	}
}

// customerChat is the customer's chat.
const customerChat = 7900000017

// step is what is done, and what must be true in the end. A step may be done twice, when
// the program is killed before it has answered.
type step struct {
	name string
	do   func(*lifecycle) error
	wait func(*lifecycle) bool
}

// lifecycle is one run of the steps.
type lifecycle struct {
	*programEnv
	v     *service
	token string
}

var steps = []step{
	{"an order without a chat", func(s *lifecycle) error { return s.order("A-1") }, func(s *lifecycle) bool { return s.invite() }},
	{"start with the token", func(s *lifecycle) error { return s.sandbox.Start(customerChat, s.token) },
		func(s *lifecycle) bool { return s.shows("Hello Anna", "A-1") }},
	{"paid", func(s *lifecycle) error { return s.status("A-1", "paid", "") }, func(s *lifecycle) bool { return s.shows("A-1 is paid") }},
	{"shipped", func(s *lifecycle) error { return s.status("A-1", "shipped", "https://post.example/17") },
		func(s *lifecycle) bool { return s.shows("A-1 is shipped", "post.example/17") }},
	{"delivered", func(s *lifecycle) error { return s.status("A-1", "delivered", "") }, func(s *lifecycle) bool { return s.shows("A-1 is delivered") }},
	{"block", func(s *lifecycle) error { return s.sandbox.Block(customerChat) }, func(s *lifecycle) bool { return s.chatIs("dead", "blocked") }},
	{"an order while blocked", func(s *lifecycle) error { return s.order("A-2") }, func(s *lifecycle) bool { return s.lastMessage("A-2", "dead", "chat_dead") }},
	{"unblock", func(s *lifecycle) error { return s.sandbox.Unblock(customerChat) }, func(s *lifecycle) bool { return s.chatIs("open", "") }},
	{"an order after that", func(s *lifecycle) error { return s.order("A-3") }, func(s *lifecycle) bool { return s.shows("A-3 is placed") }},
	{"stop", func(s *lifecycle) error { return s.sandbox.Write(customerChat, "/stop") },
		func(s *lifecycle) bool { return s.chatIs("dead", "stopped") && s.shows("no more messages") }},
	{"thanks", func(s *lifecycle) error { return s.sandbox.Write(customerChat, "thanks") }, func(s *lifecycle) bool { return true }},
	{"an order after the stop", func(s *lifecycle) error { return s.order("A-4") }, func(s *lifecycle) bool { return s.lastMessage("A-4", "canceled", "stopped") }},
	{"start", func(s *lifecycle) error { return s.sandbox.Start(customerChat, "") }, func(s *lifecycle) bool { return s.chatIs("open", "") }},
	{"the last order", func(s *lifecycle) error { return s.order("A-5") }, func(s *lifecycle) bool { return s.shows("A-5 is placed") }},
}

// runLifecycle takes the steps, with a kill after the given step (from 1; 0 for none).
func runLifecycle(t *testing.T, kill int) {
	s := &lifecycle{programEnv: newProgramEnv(t)}
	s.v = s.serve()
	for i, c := range steps {
		s.try(c.name, func() bool { return c.do(s) == nil })
		if i+1 == kill {
			s.v.kill()
			s.v = s.serve()
		}
		s.try(c.name+": its outcome", func() bool { return c.wait(s) })
	}
	if err := s.v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, s.v.log)
	}
	s.countCopies(kill)
}

// try repeats something until it works; what Telegram may have is sent again after 30 s at the
// earliest.
func (s *lifecycle) try(what string, works func() bool) {
	s.t.Helper()
	end := time.Now().Add(100 * time.Second)
	for !works() {
		if time.Now().After(end) {
			s.t.Fatalf("%s: not in time\n%s", what, s.v.log)
		}
		// Whatever is waited for shows as a call to the sandbox, or soon after one.
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		calls := s.sandbox.Stats().Calls
		s.sandbox.WaitStats(ctx, func(st sandbox.Stats) bool { return st.Calls > calls })
		cancel()
	}
}

func (s *lifecycle) order(number string) error {
	body := fmt.Sprintf(`{"number":%q,"customer":{"id":"c-17","name":"Anna"},"currency":"EUR","totalCents":2500}`, number)
	status, answer, err := s.v.post("/orders", "place-"+number, body)
	if err == nil && status != 201 {
		err = fmt.Errorf("%d %v", status, answer)
	}
	return err
}

func (s *lifecycle) status(number, to, tracking string) error {
	_, list, err := s.v.get("/orders?number=" + number)
	if err != nil {
		return err
	}
	items, _ := list["items"].([]any)
	if len(items) != 1 {
		return fmt.Errorf("orders %s: %v", number, list)
	}
	id := items[0].(map[string]any)["orderId"] //nolint:forcetypeassert // a test
	body := fmt.Sprintf(`{"status":%q,"trackingUrl":%q}`, to, tracking)
	status, answer, err := s.v.post(fmt.Sprintf("/orders/%v/status", id), number+"-"+to, body)
	if err == nil && status != 200 {
		err = fmt.Errorf("%d %v", status, answer)
	}
	return err
}

// invite asks for the link until the bot's name is known, and keeps its token.
func (s *lifecycle) invite() bool {
	status, answer, err := s.v.post("/customers/c-17/link", "", "")
	url, _ := answer["connectUrl"].(string)
	_, token, found := strings.Cut(url, "?start=")
	s.token = token
	return err == nil && status < 300 && found
}

// shows says whether the customer's chat has a message with all these words.
func (s *lifecycle) shows(words ...string) bool {
	for _, m := range s.sandbox.Messages() {
		all := m.ChatID == customerChat
		for _, w := range words {
			all = all && strings.Contains(m.VisibleText, w)
		}
		if all {
			return true
		}
	}
	return false
}

func (s *lifecycle) chatIs(state, reason string) bool {
	_, chat, err := s.v.get(fmt.Sprintf("/chats/%d", customerChat))
	given, _ := chat["reason"].(string)
	return err == nil && chat["state"] == state && given == reason
}

// lastMessage says whether the newest message is of this order, and how it ended.
func (s *lifecycle) lastMessage(number, state, reason string) bool {
	_, list, err := s.v.get("/orders?number=" + number)
	items, _ := list["items"].([]any)
	if err != nil || len(items) != 1 {
		return false
	}
	_, order, err := s.v.get(fmt.Sprintf("/orders/%v", items[0].(map[string]any)["orderId"])) //nolint:forcetypeassert // a test
	messages, _ := order["messages"].([]any)
	if err != nil || len(messages) != 1 {
		return false
	}
	_, m, err := s.v.get(fmt.Sprintf("/messages/%v", messages[0].(map[string]any)["messageId"])) //nolint:forcetypeassert // a test
	return err == nil && m["state"] == state && m["reason"] == reason
}

// countCopies looks for what came twice: at most one message was in the air at a kill.
func (s *lifecycle) countCopies(kill int) {
	s.t.Helper()
	copies, twice := map[string]int{}, 0
	for _, m := range s.sandbox.Messages() {
		copies[m.VisibleText]++
		if copies[m.VisibleText] > 1 {
			twice++
		}
	}
	if twice > 1 || kill == 0 && twice > 0 {
		s.t.Errorf("messages came twice: %v", copies)
	}
	if s.shows("A-2 is placed") || s.shows("A-4 is placed") {
		s.t.Error("what was suppressed came later")
	}
}
