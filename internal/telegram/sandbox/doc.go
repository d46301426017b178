// Package sandbox is a fake Telegram Bot API server.
//
// It owns a second, independent reading of the Bot API: how calls are encoded,
// what the real server refuses and in which words, which messages arrive, and
// when a bot is told to slow down. Nothing about that is scripted: every 429 is
// derived from the traffic the server gets, and what was truly delivered is
// kept, so that a sender can be judged by it. Disorders that traffic does not
// cause (a reset, a proxy's page, a hanging call) are put in as faults.
//
// It does not own anything of the program it is used to test, and imports no
// other package of this repository but markup, which is its own: a mistake
// shared by both sides would stay invisible. Its state lives in memory only. Where Telegram publishes no
// number, the sandbox keeps the published ones exactly and says so in Limits.
//
// Callers are the sandbox verb, which serves it on a TCP address, and Go tests,
// which mount it in httptest.NewServer or, inside a testing/synctest bubble,
// reach it through Transport.
//
// The paths below /bot<token>/ are the Bot API; those below /sandbox are for
// the person or test that watches, sets limits and faults, and acts as the
// customers. The same acts exist as methods of Sandbox, and the page at / offers
// them with the chats as Telegram would show them.
package sandbox
