// Package conversation is the bot's side of the talk with a customer: what follows when somebody
// presses Start, writes a command or anything else, blocks the bot, or takes it into a group.
//
// It owns which act has which effect and which answer, and the words of the commands menu. It does
// not own how an act is recognised (updates), what linking and stopping do (orders, outbox), or how
// an answer reads (text).
//
// Its one caller is the inbox of updates, inside the transaction that stores the update: act,
// effect and answer are on disk together or not at all. Answers are messages of the outbox.
package conversation
