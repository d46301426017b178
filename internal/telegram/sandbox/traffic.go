package sandbox

import (
	"slices"
	"time"
)

// traffic is what the strip of the page shows: the last minute, second by
// second, and the latest 429s. world.mu guards it.
type traffic struct {
	seconds  []trafficSecond // ascending; those without a call are left out
	refusals []refusalView
}

// trafficSecond counts what happened in one second.
type trafficSecond struct {
	At              int64 `json:"at"` // Unix time
	Calls           int   `json:"calls"`
	Delivered       int   `json:"delivered"`
	TooManyRequests int   `json:"tooManyRequests"`
}

// How much the strip shows.
const (
	trafficSeconds  = 60
	trafficRefusals = 30
)

// second gives the counters of the second an instant lies in. They may be asked
// for a little late: a held message counts for the second of its slot.
func (t *traffic) second(at time.Time) *trafficSecond {
	unix := at.Unix()
	i := len(t.seconds)
	for i > 0 && t.seconds[i-1].At > unix {
		i--
	}
	if i > 0 && t.seconds[i-1].At == unix {
		return &t.seconds[i-1]
	}
	if len(t.seconds) == trafficSeconds {
		if i == 0 {
			return &trafficSecond{} // too late to be seen
		}
		t.seconds = slices.Delete(t.seconds, 0, 1)
		i--
	}
	t.seconds = slices.Insert(t.seconds, i, trafficSecond{At: unix})
	return &t.seconds[i]
}

// refuse notes a call that was answered 429.
func (t *traffic) refuse(c *Call) {
	t.second(c.AnsweredAt).TooManyRequests++
	t.refusals = append(t.refusals, refusalView{
		CallID: c.CallID, At: c.AnsweredAt, Method: c.Method, ChatID: c.ChatID, FaultID: c.FaultID,
		Wait: answer{status: c.Status}.summary(c),
	})
	t.refusals = t.refusals[max(0, len(t.refusals)-trafficRefusals):]
}

// since copies the counters of the last minute before an instant.
func (t *traffic) since(now time.Time) []trafficSecond {
	list := []trafficSecond{}
	for _, s := range t.seconds {
		if s.At > now.Unix()-trafficSeconds {
			list = append(list, s)
		}
	}
	return list
}
