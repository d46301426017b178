package sandbox

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// diceLimits throws limits that are small enough to be met.
func diceLimits(dice *rand.Rand) Limits {
	rates := []float64{0, 0.3, 1, 2, 7}
	return Limits{
		BotPerSecond:   dice.IntN(5),
		ChatPerSecond:  rates[dice.IntN(len(rates))],
		ChatBurst:      dice.IntN(4),
		GroupPerMinute: dice.IntN(6),
		Hold:           time.Duration(dice.IntN(3)) * time.Second,
	}
}

// A crowd of clients that wait as told: whatever the limits, the server has
// delivered no more in any window than they allow, and everything in the end.
func TestServerKeepsItsLimits(t *testing.T) {
	const clients, each = 6, 12
	for seed := range uint64(20) {
		inBubble(t, Options{Seed: seed + 1}, func(r *rig) {
			limits := diceLimits(rand.New(rand.NewPCG(seed, 0)))
			r.limit(limits)
			var all sync.WaitGroup
			for i := range uint64(clients) {
				all.Go(func() {
					dice := rand.New(rand.NewPCG(seed, 1+i))
					for range each {
						time.Sleep(time.Duration(dice.IntN(800)) * time.Millisecond)
						r.sendPatiently(int64(dice.IntN(4)) - 2)
					}
				})
			}
			all.Wait()
			var slots []slot
			for _, m := range r.Messages() {
				slots = append(slots, slot{m.ChatID, m.ReceivedAt})
			}
			if len(slots) == 0 || len(slots) != r.Stats().Delivered {
				r.t.Fatalf("%d messages, %+v", len(slots), r.Stats())
			}
			checkWindows(r.t, limits, slots)
		})
	}
}

// sendPatiently sends to a chat, 0 being taken for 2, until it is delivered.
func (r *rig) sendPatiently(chatID int64) {
	if chatID == 0 {
		chatID = 2
	}
	for {
		answer, err := r.try("sendMessage", fields{"chat_id": chatID, "text": "x"})
		if err != nil || answer.OK {
			return
		}
		seconds, _ := answer.Parameters.RetryAfter.Int64() // what is no 429 would never end, and the bubble says so
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

// One client that waits exactly as long as it is told is never refused twice in
// a row and never violates anything.
func TestExactlyTheWaitIsEnough(t *testing.T) {
	for seed := range uint64(20) {
		inBubble(t, Options{Seed: seed + 1, StrictPenalty: true}, func(r *rig) {
			dice := rand.New(rand.NewPCG(seed, 0))
			r.limit(diceLimits(dice))
			for range 60 {
				chatID := []int64{-2, -1, 1, 2}[dice.IntN(4)]
				answer := r.send(chatID)
				if answer.OK {
					continue
				}
				seconds, err := answer.Parameters.RetryAfter.Int64()
				if err != nil || seconds < 1 {
					r.t.Fatalf("%s", answer.body)
				}
				time.Sleep(time.Duration(seconds) * time.Second)
				r.accepted(r.send(chatID), nil)
			}
			if n := r.Stats().Violations; n != 0 {
				r.t.Errorf("%d violations", n)
			}
		})
	}
}

// Calls that were on their way when the first of them was refused are no
// violations, however many.
func TestCallsInFlightAreNoViolations(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 1, Latency: 10 * time.Millisecond})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { r.sendPatiently(7) })
		}
		all.Wait()
		if got := r.Stats(); got.Violations != 0 || got.Delivered != 20 {
			t.Errorf("%+v", got)
		}
	})
}

// A client cannot know that the wait it was told with one chat is for all.
func TestAnotherChatIsNoViolation(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{BotPerSecond: 1})
		r.accepted(r.send(1), nil)
		r.refused(r.send(2), 429, "Too Many Requests: retry after 1")
		r.refused(r.send(3), 429, "Too Many Requests: retry after 1")
		if got := r.Stats().Violations; got != 0 {
			t.Errorf("%d violations", got)
		}
		r.refused(r.send(2), 429, "Too Many Requests: retry after 1")
		if got := r.Stats().Violations; got != 1 {
			t.Errorf("%d violations", got)
		}
	})
}

// Many workers that each wait as told meet more 429s, because others took their
// places, but ignore none.
func TestWorkersThatWaitAsToldViolateNothing(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{BotPerSecond: 30})
		var all sync.WaitGroup
		for chatID := range int64(200) {
			all.Go(func() { r.sendPatiently(chatID + 1) })
		}
		all.Wait()
		if got := r.Stats(); got.Violations != 0 || got.Delivered != 200 || got.TooManyRequests < 200 {
			t.Errorf("%+v", got)
		}
	})
}

// A client that tries again after 0.4 of 2 seconds is caught, on whatever
// connection, and the call says why.
func TestImpatientClientIsCaught(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 0.5})
		r.accepted(r.send(7), nil)
		r.refused(r.send(7), 429, "Too Many Requests: retry after 2")
		r.client.CloseIdleConnections()
		time.Sleep(400 * time.Millisecond)
		r.refused(r.send(7), 429, "Too Many Requests: retry after 2")
		calls := r.Calls()
		if got := r.Stats().Violations; got != 1 || len(calls[2].Violations) != 1 {
			t.Errorf("%d violations, %v", got, calls[2].Violations)
		}
	})
}
