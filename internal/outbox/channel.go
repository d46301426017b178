package outbox

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// Verdict is what one call to the channel came to, and so the outcome of an attempt.
// What follows from each verdict is written in judge.go; the words are stored and shown.
type Verdict string

// The verdicts a [Sender] can return.
const (
	Accepted       Verdict = "accepted"      // the channel has the message
	Wait           Verdict = "wait"          // too fast: not before Answer.Wait has passed
	Uncertain      Verdict = "uncertain"     // the channel may or may not have it
	NotSent        Verdict = "not_sent"      // no byte of the request left this machine
	NotFromChannel Verdict = "not_telegram"  // somebody else answered, such as a proxy
	BotStopped     Verdict = "bot_stopped"   // the channel refuses us altogether: the token is not good
	Moved          Verdict = "moved"         // the address has changed to Answer.MovedTo
	ChatDead       Verdict = "chat_dead"     // this address cannot be reached any more
	ChatDoubtful   Verdict = "chat_doubtful" // this address looks unreachable, but may come back
	Repair         Verdict = "repair"        // the markup was refused: once more as plain text
	Rejected       Verdict = "rejected"      // this message will never be taken
	Failed         Verdict = "failed"        // the channel failed without having taken the message
)

// failure says whether a verdict is a failure of the channel, which may be an outage's, rather than
// an answer about a message or a recipient.
func (v Verdict) failure() bool {
	return v == NotSent || v == NotFromChannel || v == Failed || v == Uncertain
}

// Open is the result of an attempt whose verdict is not known yet.
const Open Verdict = "open"

// CallResult is what a Sender knows after one call.
type CallResult struct {
	Verdict Verdict
	// Detail says in a few words why, for people. It holds no secret, no text of the message,
	// and at most 200 characters.
	Detail string
	// RemoteID is the channel's id of an accepted message; 0 when it is not known.
	RemoteID int64
	// Wait is how long the channel told us to wait with the verdict Wait. Zero: it gave no number.
	Wait time.Duration
	// MovedTo is the new address with the verdict Moved.
	MovedTo string
	// Reason is, with ChatDead, the recipient's reason (see the Reason constants of recipients) and,
	// with ChatDoubtful, the reason its messages end with when the doubt proves right:
	// ReasonChatNotFound or ReasonNoRights.
	Reason string
	// Date is the channel's own clock, taken from an answer that surely came from it; else zero.
	Date time.Time
	// OK says that the channel granted the request (with Probe calls: `ok` was true).
	OK bool
	// Answered says that the channel itself answered, whatever it said: a JSON answer that is
	// not a 5xx. It is what counts as a sign of life for probes.
	Answered bool
}

// Draft is a message as it is stored, before it has been turned into what the channel takes.
type Draft struct {
	MessageID int64
	Address   string // resolved: never an alias
	Type      string
	Payload   json.RawMessage
	Plain     bool // the markup was refused before: compose without any
}

// Composed is a composed message, ready for one call.
type Composed any

// Refusal is the error of Compose for a message that can never be sent.
type Refusal struct {
	Reason string // ReasonRejected or ReasonTemplateError
	Detail string // for people, as Answer.Detail
}

// Error implements error.
func (r *Refusal) Error() string { return r.Reason + ": " + r.Detail }

// Sender carries messages to a channel. Its calls may run side by side, but never two for one address.
type Sender interface {
	// Compose turns a draft into a letter without asking anybody. Its error is a *Refusal.
	Compose(Draft) (Composed, error)
	// Send makes exactly one call for the letter and says what came of it. ctx bounds the call.
	Send(ctx context.Context, address string, l Composed) CallResult
	// Identify asks the channel who we are (getMe): it shows that the channel and the token are
	// there, not that a message can be sent.
	Identify(ctx context.Context) CallResult
	// Touch asks something of one address that delivers nothing (sendChatAction).
	Touch(ctx context.Context, address string) CallResult
}

// Limiter says how soon the next call may start. It is asked and told from one goroutine only, and
// keeps nothing on disk: the dispatcher stores what it says of an address with the recipient, and
// feeds it the attempts of the last minute after a start.
type Limiter interface {
	// Room is how many calls may start now as far as the whole channel is concerned, and, when that
	// is 0, when to ask again.
	Room(now time.Time) (calls int, at time.Time)
	// NextTo is the earliest instant, never before now, at which a call to address may start by the
	// limits of that address alone.
	NextTo(address string, now time.Time) time.Time
	// Started books a call that starts at this instant.
	Started(address string, at time.Time)
	// Ended notes that the call which started at started was over at ended; answered says whether
	// an answer came (else the channel may have taken the call at any time until ended).
	Ended(address string, started, ended time.Time, answered bool)
	// Slow halves the pace of the whole channel, from where it climbs back by itself.
	Slow(now time.Time)
}

// DispatcherConfig is what a Dispatcher is told.
type DispatcherConfig struct {
	// Identity is who we are at the channel. A database that has sent as somebody else is refused.
	Identity    string
	Concurrency int           // calls under way at most
	BatchSize   int           // recipients taken per look
	SendTimeout time.Duration // of one call
	Logger      *slog.Logger
	Observer    Observer // may be nil
	// Held says, with an error, that this process has lost the right to send: its lock's file was
	// removed or replaced. It is asked before each call; nil: never.
	Held func() error
	// Wall reads the wall clock; nil: time.Now.
	Wall func() time.Time
}

// Observer hears what a dispatcher does, for metrics. It must not block.
type Observer interface {
	// Attempted: a call was made, it took so long, and this came of it.
	Attempted(v Verdict, took time.Duration)
	// Delivered: a message was accepted so long after it was created or planned for.
	Delivered(after time.Duration)
	// Limited: a call had to wait so long for the pace.
	Limited(waited time.Duration)
	// Mended: the reconciler found so many turns that were not what their messages say.
	Mended(turns int)
}

// Report is what one pass did.
type Report struct {
	Attempts int // calls that were made
	Sent     int // messages that were accepted
	Ended    int // messages that ended otherwise
	// Due is how many recipients have a message that could go at once if nothing held up the
	// whole channel; counted up to 10,000.
	Due int
	// Next is when something will be due by itself; zero when nothing waits for a time.
	Next time.Time
}
