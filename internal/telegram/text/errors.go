package text

// Reasons of an Error. They are among the reasons a message can be dead for.
const (
	// reasonRejected: Telegram would refuse this text.
	reasonRejected = "rejected"
	// reasonTemplateError: the text cannot be made from this payload.
	reasonTemplateError = "template_error"
)

// Error says why a message has no text that could be sent. It never holds any of the message.
type Error struct {
	reason, detail string
	pointer        string
}

// Error implements error.
func (e *Error) Error() string { return e.reason + ": " + e.detail }

// Reason is why the message ends: a word that is stored.
func (e *Error) Reason() string { return e.reason }

// Pointer is the JSON pointer of the field that is wrong, from the message, such as /payload/locale;
// empty when it is the payload as a whole, or not known.
func (e *Error) Pointer() string { return e.pointer }

// Detail is for people.
func (e *Error) Detail() string { return e.detail }

func rejected(detail string) *Error      { return &Error{reason: reasonRejected, detail: detail} }
func templateError(detail string) *Error { return &Error{reason: reasonTemplateError, detail: detail} }
