package ratelimit

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Rates are the limits that Limiter keeps. Telegram's published ones are about 30 messages a second
// for a bot, one a second for a chat and 20 a minute for a group
// (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this).
type Rates struct {
	Bot   float64 // messages in any second, whole bot
	Chat  float64 // messages a second to one chat
	Group float64 // messages in any minute to one group
}

// The bounds of a rate: one a day to ten thousand per unit of time. Within them no interval
// overflows and none is shorter than the clock can tell.
const (
	slowestInterval = 24 * time.Hour
	highestRate     = 10_000
)

// Limiter says how soon the next call may start. It implements outbox.Pacer: time is passed in, and
// like that interface it is for one goroutine.
//
// Three limits hold together. The bot's window is exact: in any second, as Telegram sees it, no
// more than the whole part of the bot's rate (below 1/s: one call in that many seconds). Within
// it calls are spaced evenly. A chat's next call starts one interval after its previous answer,
// and a group has an exact window of a minute besides.
type Limiter struct {
	rates    Rates
	ramp     ramp
	schedule schedule
	window   window
	trips    roundTrips
	chats    *chats
	turn     turn
}

// turn is what the limits of the whole bot allow at an instant. It is kept until something
// changes, as whoever picks a message asks for many chats at once.
type turn struct{ now, at time.Time }

// New checks the rates.
func New(r Rates) (*Limiter, error) {
	err := errors.Join(
		checkRate("bot", r.Bot, time.Second),
		checkRate("chat", r.Chat, time.Second),
		checkRate("group", r.Group, time.Minute),
	)
	if err != nil {
		return nil, err
	}
	return &Limiter{rates: r, ramp: ramp{full: r.Bot}, chats: newChats(r.Chat, r.Group)}, nil
}

func checkRate(name string, rate float64, per time.Duration) error {
	lowest := per.Seconds() / slowestInterval.Seconds()
	if math.IsNaN(rate) || rate < lowest || rate > highestRate {
		return fmt.Errorf("the rate of a %s must be between %.2g and %d", name, lowest, highestRate)
	}
	return nil
}

// Next implements outbox.Pacer. While calls are under way the true instant may turn out later, when
// they take long, but never earlier: whoever sleeps until Next and asks again loses no time.
func (l *Limiter) Next(address string, now time.Time) time.Time {
	if l.turn.now.IsZero() || !l.turn.now.Equal(now) {
		l.turn = turn{now, l.botTurn(now)}
	}
	return latest(l.turn.at, l.chats.next(address, now, l.trips.floor()))
}

// botTurn is Next without the limits of the chat.
func (l *Limiter) botTurn(now time.Time) time.Time {
	rate := l.ramp.rate(now)
	at := latest(now, l.schedule.next(rate))
	return latest(at, l.window.next(quota(rate, time.Second), now, l.trips.floor()))
}

// Started implements outbox.Pacer.
func (l *Limiter) Started(address string, at time.Time) {
	l.turn = turn{}
	rate := l.ramp.rate(at)
	l.schedule.book(rate, at)
	l.window.started(address, at, quota(rate, time.Second))
	l.chats.started(address, at)
}

// Ended implements outbox.Pacer.
func (l *Limiter) Ended(address string, started, ended time.Time, answered bool) {
	l.turn = turn{}
	if answered {
		l.trips.note(ended.Sub(started))
	}
	l.window.ended(address, started, ended, answered)
	l.chats.ended(address, started, ended, answered)
}

// Slow implements outbox.Pacer.
func (l *Limiter) Slow(now time.Time) {
	l.turn = turn{}
	l.ramp.slow(now)
}

// isGroup: the ids of groups, supergroups and channels are negative
// (https://core.telegram.org/bots/api#chat).
func isGroup(address string) bool { return strings.HasPrefix(address, "-") }

// share is how many calls a window of a given length takes.
type share struct {
	calls int
	per   time.Duration
}

// quota turns a rate per unit of time into whole calls: the whole part of it in each unit, or one
// call in a longer time where it is below one.
func quota(rate float64, unit time.Duration) share {
	if rate < 1 {
		return share{1, time.Duration(math.Ceil(float64(unit) / rate))}
	}
	return share{int(rate), unit}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
