package sandbox

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// updateObject is what the tests look at in an Update.
type updateObject struct {
	UpdateID     int64          `json:"update_id"`
	Message      *messageObject `json:"message"`
	MyChatMember *struct {
		Chat chatObject
		From user
		Date int64
		Old  chatMember `json:"old_chat_member"`
		New  chatMember `json:"new_chat_member"`
	} `json:"my_chat_member"`
	CallbackQuery *struct {
		ID      string
		From    user
		Message messageObject
		Data    string
	} `json:"callback_query"`
}

// updates calls getUpdates and checks that it is answered.
func (r *rig) updates(parameters fields) []updateObject {
	r.t.Helper()
	var list []updateObject
	r.accepted(r.call("getUpdates", parameters), &list)
	return list
}

// done checks an act.
func (r *rig) done(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func texts(list []updateObject) []string {
	found := []string{}
	for _, u := range list {
		if u.Message != nil {
			found = append(found, u.Message.Text)
		}
	}
	return found
}

func TestUpdatesAreConfirmedByOffset(t *testing.T) {
	r := newRig(t, Options{})
	for _, word := range []string{"one", "two", "three", "four"} {
		r.done(r.Write(7, word))
	}
	all := r.updates(nil) // the first bot gets what came before it
	if diff := cmp.Diff([]string{"one", "two", "three", "four"}, texts(all)); diff != "" {
		t.Fatal(diff)
	}
	for i, u := range all {
		if u.UpdateID != all[0].UpdateID+int64(i) {
			t.Errorf("update %d has id %d", i, u.UpdateID)
		}
	}
	for name, step := range map[string]struct {
		parameters fields
		want       []string
	}{
		"again without offset": {fields{}, []string{"one", "two", "three", "four"}},
		"limit":                {fields{"limit": 2}, []string{"one", "two"}},
		"limit out of bounds":  {fields{"limit": 0}, []string{"one"}},
	} {
		if diff := cmp.Diff(step.want, texts(r.updates(step.parameters))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	steps := []struct {
		parameters fields
		want       []string
	}{
		{fields{"offset": all[1].UpdateID}, []string{"two", "three", "four"}},
		{fields{}, []string{"two", "three", "four"}},
		{fields{"offset": all[0].UpdateID}, []string{"two", "three", "four"}},
		{fields{"offset": all[3].UpdateID + 100}, []string{"two", "three", "four"}}, // far in the future
		{fields{"offset": -2}, []string{"three", "four"}},
		{fields{}, []string{"three", "four"}},
		{fields{"offset": -50}, []string{"three", "four"}},
		{fields{"offset": all[3].UpdateID + 1}, []string{}},
		{fields{}, []string{}},
	}
	for i, step := range steps {
		if diff := cmp.Diff(step.want, texts(r.updates(step.parameters))); diff != "" {
			t.Errorf("step %d %v: %s", i, step.parameters, diff)
		}
	}
}

func TestAllowedUpdates(t *testing.T) {
	r := newRig(t, Options{})
	r.updates(fields{"allowed_updates": []string{"my_chat_member"}})
	r.done(r.Write(7, "unwanted"))
	r.done(r.Block(7))
	if list := r.updates(nil); len(list) != 1 || list[0].MyChatMember == nil {
		t.Errorf("%+v", list)
	}
	r.updates(fields{"allowed_updates": "[]"}) // an empty list means all
	r.done(r.Write(7, "wanted"))
	if list := r.updates(nil); len(list) != 3 {
		t.Errorf("%+v", list)
	}
}

func TestLongPoll(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		start := time.Now()
		time.AfterFunc(7*time.Second, func() { r.done(r.Write(7, "late")) })
		time.AfterFunc(5*time.Second, func() {
			if got := r.Stats().OpenCalls; got != 0 {
				t.Errorf("a waiting poll counts as %d open calls", got)
			}
		})
		list := r.updates(fields{"timeout": 30})
		if waited := time.Since(start); len(list) != 1 || waited != 7*time.Second {
			t.Errorf("%d updates after %v", len(list), waited)
		}
		next := list[0].UpdateID + 1
		start = time.Now()
		if list := r.updates(fields{"timeout": 3600, "offset": next}); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		if waited := time.Since(start); waited != 50*time.Second {
			t.Errorf("waited %v", waited)
		}
		r.done(r.Write(7, "again"))
		start = time.Now()
		if list := r.updates(fields{"timeout": 30, "offset": next}); len(list) != 1 || time.Since(start) != 0 {
			t.Errorf("%d updates after %v", len(list), time.Since(start))
		}
	})
}

func TestTwoPollers(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		first := make(chan reply)
		go func() {
			answer, _ := r.try("getUpdates", fields{"timeout": 30})
			first <- answer
		}()
		synctest.Wait()
		time.AfterFunc(time.Second, func() { r.done(r.Write(7, "x")) })
		second := r.updates(fields{"timeout": 30})
		r.refused(<-first, 409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running")
		if len(second) != 1 {
			t.Errorf("%+v", second)
		}
	})
}

// A poller that has gone away loses nothing.
func TestAbandonedPoll(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		impatient := &rig{r.Sandbox, t, r.url, &http.Client{Transport: r.client.Transport, Timeout: time.Second}}
		if _, err := impatient.try("getUpdates", fields{"timeout": 30}); err == nil {
			t.Fatal("it was answered")
		}
		r.done(r.Write(7, "x"))
		if list := r.updates(fields{"timeout": 30}); len(list) != 1 {
			t.Errorf("%+v", list)
		}
	})
}

func TestUpdatesExpire(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.updates(nil)
		r.done(r.Write(7, "old"))
		time.Sleep(23 * time.Hour)
		r.done(r.Write(7, "young"))
		time.Sleep(time.Hour + time.Second)
		if got := texts(r.updates(nil)); len(got) != 1 || got[0] != "young" {
			t.Errorf("%v", got)
		}
	})
}

func TestUpdateIDsGoOnAfterReset(t *testing.T) {
	r := newRig(t, Options{Seed: 5})
	r.updates(nil)
	r.done(r.Write(7, "x"))
	before := r.updates(nil)[0].UpdateID
	r.Reset()
	r.done(r.Write(7, "y"))
	if after := r.updates(fields{"offset": before + 1}); len(after) != 1 || after[0].UpdateID <= before {
		t.Errorf("%d, then %+v", before, after)
	}
	again := New(Options{Seed: 5})
	defer again.Close()
	if got := again.current().firstUpdate; got != before {
		t.Errorf("the same seed begins with %d, then %d", before, got)
	}
}

// Some clients take the second key of an update for its kind.
func TestUpdateIDComesFirst(t *testing.T) {
	r := newRig(t, Options{})
	r.done(r.Write(7, "hello"))
	answer := r.call("getUpdates", nil)
	if !strings.HasPrefix(string(answer.Result), `[{"update_id":`) || !strings.Contains(string(answer.Result), `,"message":{`) {
		t.Errorf("%s", answer.Result)
	}
}
