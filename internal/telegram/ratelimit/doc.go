// Package ratelimit says how soon the next call to the Bot API may start.
//
// It owns the three limits and nothing else: the bot's window of a second, the interval of a chat,
// and the minute of a group. It does not own who is called next, what a call is about, or what
// follows from a 429: that is the outbox, which asks and tells a Limiter through an interface of
// its own. It has no I/O, starts no goroutine and keeps no clock: time is passed in.
package ratelimit
