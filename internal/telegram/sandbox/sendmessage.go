package sandbox

import "unicode/utf8"

// The longest texts after parsing, in Unicode code points.
const (
	maxText    = 4096
	maxCaption = 1024
)

func sendMessage(c *call) (any, *apiError) {
	if err := c.checkTextGiven(); err != nil {
		return nil, err
	}
	return c.deliver(outgoing{kind: KindText, what: "text messages", text: "text", entities: "entities"})
}

// checkTextGiven refuses a call without a text; before it the server looks at
// the options of the link preview.
func (c *call) checkTextGiven() *apiError {
	if _, err := c.params.linkPreview(); err != nil {
		return err
	}
	if c.params.values["text"] == "" {
		return badRequest("message text is empty")
	}
	return nil
}

func checkText(text string) *apiError {
	if utf8.RuneCountInString(text) > maxText {
		return badRequest("message is too long")
	}
	return nil
}

func checkCaption(text string) *apiError {
	if utf8.RuneCountInString(text) > maxCaption {
		return badRequest("message caption is too long")
	}
	return nil
}
