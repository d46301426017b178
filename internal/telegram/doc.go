// Package telegram carries messages to Telegram through the Bot API.
//
// It owns two things. The HTTP recorder below the Bot API library notes what really happened to one
// call: whether a byte of it may have left, which answer came, and whether that answer was whole
// (exchange.go, transport.go, facts.go). classify turns those facts into a verdict, and nothing
// else in the program reads an answer of Telegram (classify.go).
//
// It does not own what follows from a verdict, when a message is tried again, or what is stored:
// that is the outbox, whose Sender it implements and which alone calls it; updates calls the
// methods about updates. It does not own how soon the next call may start (ratelimit), nor the
// words of a message: they come from the Renderer that the wiring passes in. It writes nothing to
// disk, starts no goroutine and keeps no clock of its own in classify.
package telegram
