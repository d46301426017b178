package sandbox

import (
	"unicode/utf8"

	"notifier/internal/telegram/sandbox/markup"
)

// The longest texts after parsing, in Unicode code points.
const (
	maxText    = 4096
	maxCaption = 1024
)

func sendMessage(c *call) (any, *apiError) {
	if c.params.values["text"] == "" {
		return nil, badRequest("message text is empty")
	}
	return c.deliver(outgoing{
		kind: KindText, what: "text messages", text: "text", entities: "entities", checkText: checkText,
	})
}

func checkText(text markup.Text) *apiError {
	switch {
	case text.Text == "":
		return badRequest("text must be non-empty")
	case utf8.RuneCountInString(text.Text) > maxText:
		return badRequest("message is too long")
	}
	return nil
}

func checkCaption(text markup.Text) *apiError {
	if utf8.RuneCountInString(text.Text) > maxCaption {
		return badRequest("message caption is too long")
	}
	return nil
}
