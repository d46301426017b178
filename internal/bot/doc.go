// Package bot decides what follows when somebody presses Start, writes a command or anything else,
// blocks the bot, or takes it into a group, and which reply they get.
//
// It owns which event has which effect and which reply, and the words of the commands menu. It does
// not own how an event is recognised (updates), what linking and stopping do (orders, outbox), or how
// a reply reads (text).
//
// Its one caller is the inbox of updates, inside the transaction that stores the update: event,
// effect and reply are on disk together or not at all. Replies are messages of the outbox.
package bot
