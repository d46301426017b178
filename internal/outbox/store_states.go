package outbox

// State is where a message stands in its life. schema.sql holds the same words in a CHECK.
type State string

// The states of a message. Pending and Sending are on their way; the others are ends, which only
// a person's retry undoes (and never that of Sent).
const (
	Pending  State = "pending"   // will be sent; explain says what it waits for
	Sending  State = "sending"   // an attempt is open: it is on disk, and the call may be under way
	Sent     State = "sent"      // the channel has it
	Unsure   State = "uncertain" // the channel may have it, and it is not to be sent again
	Dead     State = "dead"      // failed for good, see the reason
	Canceled State = "canceled"  // nobody wants it any more
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

// Reasons why a recipient is dead or doubtful.
const (
	RecipientBlocked      = "blocked"
	RecipientDeactivated  = "deactivated"
	RecipientKicked       = "kicked"
	RecipientNeverStarted = "never_started"
	RecipientStopped      = "stopped"
	RecipientOther        = "other"
)
