package config

import "errors"

// Errors are all errors about settings in a tree of errors, and whether that is all there is.
func Errors(err error) (found []*Error, all bool) {
	var one *Error
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		all = true
		for _, e := range list.Unwrap() {
			more, only := Errors(e)
			found, all = append(found, more...), all && only
		}
		return found, all
	}
	if errors.As(err, &one) {
		return []*Error{one}, true
	}
	return nil, false
}
