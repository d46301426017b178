package updates

import (
	"time"

	"notifier/internal/database"
)

// Kind says what somebody did. The words are stored, and counted in metrics.
type Kind string

// The kinds of events.
const (
	Start      Kind = "start"      // pressed Start or wrote /start, with or without a token
	Help       Kind = "help"       // wrote /help
	Orders     Kind = "orders"     // wrote /orders
	Stop       Kind = "stop"       // wrote /stop
	Words      Kind = "text"       // sent any other message
	Press      Kind = "press"      // pressed a button below a message of ours
	Blocked    Kind = "blocked"    // blocked the bot, or deleted the chat with it
	Unblocked  Kind = "unblocked"  // took the block back
	Joined     Kind = "joined"     // took the bot into a group, or gave it other rights there
	Left       Kind = "left"       // removed the bot from a group
	Moved      Kind = "moved"      // made the group a supergroup with another id
	Ignored    Kind = "ignored"    // something that does not concern us
	Unreadable Kind = "unreadable" // nobody knows: the update has no shape that we can read
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{Start, Help, Orders, Stop, Words, Press, Blocked, Unblocked, Joined, Left, Moved, Ignored, Unreadable}
}

// Event is what an update says that somebody did.
type Event struct {
	Kind Kind
	Chat int64 // where; never 0, but with Ignored and Unreadable
	// Private: the chat is one person's with the bot, not a group.
	Private bool
	// Language is the person's, as an IETF tag; empty when Telegram does not say.
	Language string
	// At is when, by Telegram's clock, in whole seconds; zero when it does not say. For a pressed
	// button it is when the message above it was sent: the press came later.
	At time.Time
	// Token is what stood behind /start; empty when nothing did. It can be anything.
	Token string
	// MovedTo is what Chat has become, with Moved.
	MovedTo int64

	callback string // the id under which a pressed button waits for an answer
}

// Handler does what follows from an event.
type Handler interface {
	// Handle is called once for each event but the ignored and unreadable ones, in the transaction that
	// stores its update. An error undoes both, and the update comes again.
	Handle(tx database.Tx, now time.Time, a Event) error
}
