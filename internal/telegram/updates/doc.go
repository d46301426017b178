// Package updates takes in what people do in Telegram: it fetches updates (poller.go) or is sent
// them (webhook.go), reads each into an Event (read.go, command.go), and stores it in the inbox
// together with its effect, in one transaction, before Telegram is told that it was read
// (inbox.go).
//
// It owns the table notifier_updates, the calls to Telegram about updates, the commands
// menu (menu.go), and the rule that no update, whatever its shape, can stop the others. It reads
// the few members of an update that matter one by one, so that a member of a new or strange shape
// costs only itself; the library's types would refuse the update as a whole.
//
// It does not own what follows from an event: that is the Handler, which the wiring passes in and
// which works inside the transaction of the inbox. It sends no message. Whoever holds the
// sender's lock runs the Poller or sets the webhook; the HTTP server mounts the Webhook's handler.
package updates
