package httpapi

import (
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2/validation"

	"notifier/internal/orders"
)

// plainly tells a detail of huma in words for people who do not read schemas.
func plainly(detail string) string {
	if said, ok := inOurWords[detail]; ok {
		return said
	}
	for _, form := range inOurForm {
		if value, ok := filledIn(form.theirs, detail); ok {
			return strings.Replace(form.ours, "%", value, 1)
		}
	}
	return detail
}

// inOurWords are details of huma that leave a question open.
var inOurWords = map[string]string{
	validation.MsgUnexpectedProperty:      "is not a field of this request",
	validation.MsgExpectedInteger:         "must be a whole number in plain digits, between -9223372036854775808 and 9223372036854775807",
	"invalid integer":                     "must be a whole number in plain digits",
	"unknown query parameter":             "is not a parameter of this request",
	validation.MsgExpectedString:          "must be a string",
	validation.MsgExpectedBoolean:         "must be true or false",
	validation.MsgExpectedArray:           "must be a list",
	validation.MsgExpectedObject:          "must be an object",
	validation.MsgExpectedRFC3339DateTime: "must be a time such as 2026-11-30T15:04:05Z",
}

// inOurForm are details of huma that hold a value: where they have a verb, ours have %.
var inOurForm = []struct{ theirs, ours string }{
	{validation.MsgExpectedOneOf, "must be one of %"},
	{validation.MsgExpectedMinimumNumber, "must be at least %"},
	{validation.MsgExpectedMaximumNumber, "must be at most %"},
	{validation.MsgExpectedMinLength, "must have at least % characters"},
	{validation.MsgExpectedMaxLength, "must have at most % characters"},
	{validation.MsgExpectedMaxItems, "must have at most % items"},
	{validation.MsgExpectedBePattern, "must be %"},
}

// filledIn is the value in a detail that was made from a format with one verb of two bytes.
func filledIn(format, detail string) (string, bool) {
	verb := strings.Index(format, "%")
	value, begins := strings.CutPrefix(detail, format[:verb])
	value, ends := strings.CutSuffix(value, format[verb+2:])
	return value, begins && ends
}

// statusWords say what an order can still become.
func statusWords(e *orders.StatusError) string {
	var next []string
	for _, s := range orders.Statuses() {
		if e.From.CanBecome(s) {
			next = append(next, string(s))
		}
	}
	if len(next) == 0 {
		return e.Error()
	}
	last := len(next) - 1
	words := next[last]
	if last > 0 {
		words = strings.Join(next[:last], ", ") + " or " + words
	}
	return fmt.Sprintf("order %d is %s: from there it can become %s, but not %s", e.OrderID, e.From, words, e.To)
}
