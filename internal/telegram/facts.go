package telegram

// Facts is what is known about one call after it, before anybody judges it. The zero value is a
// call of which nothing left.
type Facts struct {
	// Written says that a byte of the request may have left this machine. It is false only when
	// that is sure: no name, no connection, no TLS.
	Written bool
	// Status is the HTTP status of the answer; 0 when none came.
	Status int
	// RetryAfter and Date are these two headers of the answer, as they came.
	RetryAfter, Date string
	// Body is what could be read of the answer's body, up to the limit of the call.
	Body []byte
	// Cut says that Body is not the whole body: reading it failed, or it passed the limit.
	Cut bool
	// TooLong says that it passed the limit.
	TooLong bool
	// Failure says in a few words why no answer came or why it is cut. It holds neither the token
	// nor any address.
	Failure string
}

// maxBody is how much of an answer is read unless a call says otherwise, in bytes. An answer to sendMessage is some 2 kB; a
// page that a proxy sends instead can have any size.
const maxBody = 64 << 10
