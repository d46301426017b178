package outbox

import (
	"encoding/json"
	"errors"
	"time"
)

// Message is one row of the outbox as people and programs see it. Zero times are absent.
type Message struct {
	ID  int64
	Key string // idempotency key; empty when the writer gave none
	// Recipient is what the writer wrote: an address, or an alias such as customer:<id>.
	Recipient string
	// Address is where it goes or went: the alias resolved. Empty while there is none.
	Address     string
	Type        string
	Payload     json.RawMessage
	Subject     string
	CollapseKey string
	NotBefore   time.Time
	ExpiresAt   time.Time // as the writer gave it
	OnUncertain string    // "resend", "hold", or empty for the setting
	CreatedAt   time.Time

	State    State
	Reason   string // of a dead or canceled message
	Detail   string // the channel's words about the last failure
	Failures int    // counted ones
	Doubts   int    // attempts that the channel may have taken without saying so
	RetryAt  time.Time
	RemoteID int64
	EndedAt  time.Time

	// Erased says that its content and attempts were erased, by retention or to forget a customer.
	Erased bool

	rank      int
	hold      int
	line      string // the address as it is stored: a customer without a chat stands for itself
	plain     bool
	readyAt   time.Time
	readyWait time.Duration
	ageFrom   time.Time
}

// Ranks of messages. A lower one goes first.
const (
	rankReply     = 0 // replies to what a person has just written
	rankMessage   = 1
	rankBroadcast = 2
)

// What keeps a message out of its recipient's line.
const (
	holdNone    = 0
	holdPlanned = 1 // not before the time it is planned for
	holdNoChat  = 2 // its customer has no chat yet
)

// NewMessage is what Enqueue stores.
type NewMessage struct {
	Key         string // optional
	Recipient   string // an address, or customer:<id>
	Type        string
	Payload     any // marshals to a JSON object
	Subject     string
	CollapseKey string
	NotBefore   time.Time
	ExpiresAt   time.Time
	OnUncertain string
}

// Attempt is one call for one message.
type Attempt struct {
	ID        int64
	MessageID int64
	Address   string
	StartedAt time.Time
	EndedAt   time.Time // zero while open
	Result    Verdict   // or Open
	Counted   bool
	Detail    string
}

// Filter chooses messages for a list, newest first. Empty fields choose all.
type Filter struct {
	State     State
	Reason    string
	Recipient string // as written, or the address that it stands for
	Subject   string
	Before    int64 // only ids below this one; 0 from the newest
	Limit     int   // 1 to 1000
}

// Recipient is what is remembered of one address.
type Recipient struct {
	Address   string
	State     RecipientState
	Reason    string
	Detail    string // the channel's words
	Since     time.Time
	GateUntil time.Time // no call before; zero when there is no gate

	gateWait   time.Duration
	floodStep  int
	doubtStep  int
	doubtUntil time.Time
	doubtWait  time.Duration
	paceUntil  time.Time // no call before, by the limits of one chat
	paceWait   time.Duration
	epoch      int64
	acceptedBy string // the identity from which it has accepted a message
	spared     bool   // it was taken back by the guard, and has accepted nothing since
	turn       turn   // as stored
	aliasOf    string

	stored RecipientState // as it is on disk; empty: it has no row
}

// accepts says whether it has accepted a message from this identity.
func (r Recipient) accepts(identity string) bool {
	return r.acceptedBy != "" && r.acceptedBy == identity
}

// RecipientState says whether an address can be written to.
type RecipientState string

// The states of a recipient.
const (
	RecipientOpen     RecipientState = "open"
	RecipientDoubtful RecipientState = "doubtful"
	RecipientDead     RecipientState = "dead"
)

// SenderStatus is what holds up the whole channel, if anything.
type SenderStatus struct {
	State  string // "running", "paused", "waiting" or "stopped"
	Reason string // in words; empty when running
	Until  time.Time
}

// The states of a sender.
const (
	SenderRunning = "running"
	SenderPaused  = "paused"  // by a person
	SenderWaiting = "waiting" // until SenderStatus.Until, when known
	SenderStopped = "stopped" // the channel refuses us, or we are not who we were
)

// ErrNotFound says that there is no such message.
var ErrNotFound = errors.New("not found")

// ConflictError says why an action is not possible for a message or recipient as it stands.
type ConflictError struct {
	Code   string // one of the Conflict constants
	Detail string // for people, with what they can do
}

// Error implements error.
func (e *ConflictError) Error() string { return e.Detail }

// Codes of a ConflictError.
const (
	ConflictState      = "message_state"      // the message's state does not allow it
	ConflictChatDead   = "chat_dead"          // revive the chat first
	ConflictStopped    = "chat_stopped"       // the customer asked us to stop, and has to start again
	ConflictOvertaken  = "message_overtaken"  // a later message of its subject was sent to the same recipient; force helps
	ConflictExpired    = "message_expired"    // its expiresAt has passed; force helps
	ConflictBlanked    = "message_blanked"    // its content was erased by retention
	ConflictKeyInUse   = "key_in_use"         // the idempotency key belongs to another message
	ConflictUncertain  = "message_uncertain"  // the channel may have it: it goes once more by itself
	ConflictAliasCycle = "recipient_is_alias" // an alias cannot point to an alias of itself
)

// State is where a message stands in its life. schema.sql holds the same words in a CHECK.
type State string

// The states of a message. StatePending and StateSending are on their way; the others are ends, which only
// a person's retry undoes (and never that of StateSent).
const (
	StatePending   State = "pending"   // will be sent; explain says what it waits for
	StateSending   State = "sending"   // an attempt is open: it is on disk, and the call may be under way
	StateSent      State = "sent"      // the channel has it
	StateUncertain State = "uncertain" // the channel may have it, and it is not to be sent again
	StateDead      State = "dead"      // failed for good, see the reason
	StateCanceled  State = "canceled"  // nobody wants it any more
)

// Reasons why a message is dead.
const (
	ReasonChatDead        = "chat_dead"
	ReasonChatNotFound    = "chat_not_found"
	ReasonNoRights        = "no_rights"
	ReasonRejected        = "rejected"
	ReasonTemplateError   = "template_error"
	ReasonTooManyAttempts = "too_many_attempts"
	ReasonExpired         = "expired"
)

// Reasons why a message is canceled.
const (
	ReasonCanceled   = "canceled"
	ReasonSuperseded = "superseded"
	ReasonStopped    = "stopped"
)

// stateOf is the state of messages with a reason.
func stateOf(reason string) State {
	switch reason {
	case ReasonCanceled, ReasonSuperseded, ReasonStopped:
		return StateCanceled
	}
	return StateDead
}

// Reasons why a recipient is dead or doubtful.
const (
	RecipientBlocked      = "blocked"
	RecipientDeactivated  = "deactivated"
	RecipientKicked       = "kicked"
	RecipientNeverStarted = "never_started"
	RecipientStopped      = "stopped"
	RecipientOther        = "other"
)
