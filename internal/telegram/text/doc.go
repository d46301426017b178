// Package text turns the payload of a stored message into what a customer reads.
//
// It owns the words (one small template for each type and language, under templates), the way
// values from outside are shown (exactly, escaped once, their direction marks kept to themselves),
// money, the length Telegram takes, and the check of texts that a shop writes itself.
//
// It does not own what is in a payload (that is orders), nor how a text is sent: the wiring hands
// Render to the Telegram client, and the HTTP API calls Check before it accepts a message. It
// keeps no state besides the parsed templates, and a Renderer may be used from many goroutines.
package text
