// Package syntax knows the form of the values that Telegram gives out and takes: bot tokens, chat
// ids and the secret of a webhook. It owns nothing else, and asks nobody whether they are right.
package syntax
