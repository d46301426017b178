// Package app is the running process: it opens the database, wires the packages to each other
// (app.go, telegram.go, receiver.go), and lets them run until it is told to end (serve.go).
//
// It owns who is given what, what only the holder of the sender's lock does, the order in which a
// process begins and ends, one pass for system cron (dispatch.go), maintenance – purge, backups, a
// short write-ahead log – and what the log says about the sender. It owns no rule about orders,
// messages or chats. The verbs of cmd/notifier call it.
package app
