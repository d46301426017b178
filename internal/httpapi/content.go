package httpapi

import "errors"

// ContentError says what is wrong with the type or the payload of a message.
type ContentError struct {
	// Pointer names the field, such as /payload/locale; empty: the payload as a whole.
	Pointer string
	Detail  string
}

// Error implements error.
func (e *ContentError) Error() string { return e.Detail }

// invalidContent refuses a message for what CheckText says about it. whole is the field that holds
// its content.
func invalidContent(whole string, err error) *Failure {
	pointer := whole
	var content *ContentError
	if errors.As(err, &content) && content.Pointer != "" && whole == "/payload" {
		pointer = content.Pointer
	}
	f := invalid(pointer, err.Error())
	f.Code = codeInvalidText
	return f
}
