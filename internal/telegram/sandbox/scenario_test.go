package sandbox

import (
	"strings"
	"testing"
	"time"
)

// What was done to one sandbox can be done to another.
func TestScenario(t *testing.T) {
	r := newRig(t, Options{})
	r.control("PUT", "/sandbox/limits", `{"chatPerSecond":0}`, 200, nil)
	r.control("POST", "/sandbox/chats/7/start", `{"payload":"order-1"}`, 200, nil)
	r.control("POST", "/sandbox/chats/7/press", `{"messageId":99}`, 409, nil) // impossible, so it is no part
	r.control("POST", "/sandbox/faults", `{"method":"sendMessage","respond":{"status":500}}`, 201, nil)
	scenario := r.control("GET", "/sandbox/scenario", "", 200, nil)
	if lines := strings.Count(scenario, "\n"); lines != 3 {
		t.Fatalf("%s", scenario)
	}
	other := newRig(t, Options{})
	r.done(other.Play(t.Context(), strings.NewReader(scenario)))
	if len(other.Faults()) != 1 || other.Limits().ChatPerSecond != 0 {
		t.Errorf("%+v, %+v", other.Faults(), other.Limits())
	}
	if list := other.updates(nil); len(list) != 1 || list[0].Message.Text != "/start order-1" {
		t.Errorf("%+v", list)
	}
}

func TestScenarioKeepsItsTimes(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		start := time.Now()
		r.done(r.Play(r.t.Context(), strings.NewReader(`{"at":"2s","method":"POST","path":"/sandbox/chats/7/block"}`)))
		if waited := time.Since(start); waited != 2*time.Second {
			t.Errorf("after %v", waited)
		}
	})
}

func TestBrokenScenarios(t *testing.T) {
	r := newRig(t, Options{})
	for scenario, want := range map[string]string{
		"\n{\"at\":\"0s\"": "line 2 of the scenario: a JSON object is expected",
		`{"at":"0s","method":"GET","path":"/bot1:x/getMe"}`: "line 1 of the scenario: /bot1:x/getMe is not below /sandbox",
		`{"at":"0s","method":"POST","path":"/sandbox/faults","body":{}}`: "line 1 of the scenario: POST /sandbox/faults is answered 422: " +
			`{"error":"respond must say what happens: status, body, drop, hang or delay"}`,
	} {
		if err := r.Play(t.Context(), strings.NewReader(scenario)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", scenario, err)
		}
	}
}
