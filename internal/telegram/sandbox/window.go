package sandbox

import (
	"slices"
	"time"
)

// window is a sliding window over events, exact for every span of its length
// that includes its beginning and excludes its end. Events may lie in the
// future: those are slots that were reserved. It never asks for the time.
type window struct {
	span   time.Duration
	events []time.Time // ascending
}

// earliest is the first instant, not before t, at which one more event leaves
// no span with more than most events. A most of zero means no limit.
func (w *window) earliest(t time.Time, most int) time.Time {
	if most == 0 {
		return t
	}
	for {
		next, free := w.conflict(t, most)
		if free {
			return t
		}
		t = next
	}
}

// conflict looks at every run of most events that t would join. Where the run
// and t together fit into less than a span, the way out is forward: past the
// end of the span that the run's first event begins.
func (w *window) conflict(t time.Time, most int) (next time.Time, free bool) {
	i := w.after(t)
	for j := max(0, i-most); j <= i && j+most <= len(w.events); j++ {
		first, last := w.events[j], w.events[j+most-1]
		if later(last, t).Sub(earlier(first, t)) < w.span {
			return first.Add(w.span), false
		}
	}
	return time.Time{}, true
}

// add records an event.
func (w *window) add(t time.Time) {
	w.events = slices.Insert(w.events, w.after(t), t)
}

// prune forgets what no event at now or later can share a span with.
func (w *window) prune(now time.Time) {
	w.events = w.events[w.after(now.Add(-w.span)):]
}

// after is the index of the first event later than t.
func (w *window) after(t time.Time) int {
	i, _ := slices.BinarySearchFunc(w.events, t, func(event, t time.Time) int {
		if event.After(t) {
			return 1
		}
		return -1
	})
	return i
}

// fullest is the largest number of events in a span that the event t, already
// added, is part of.
func (w *window) fullest(t time.Time) int {
	first := w.after(t.Add(-w.span))
	newest := w.events[len(w.events)-1]
	if newest.Sub(w.events[first]) < w.span {
		return len(w.events) - first // later beginnings only lose events
	}
	most, end := 0, first
	for ; first < len(w.events) && !w.events[first].After(t); first++ {
		for end < len(w.events) && w.events[end].Sub(w.events[first]) < w.span {
			end++
		}
		most = max(most, end-first)
	}
	return most
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
