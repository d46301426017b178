// Package e2e holds no code but tests. They are failures that people who run services like
// this one have met, each as a small story: the real database, outbox, Telegram client and pace
// against the sandbox, under a virtual clock, so that a wait of hours takes no time. The names of
// the tests begin with the case: RL is about rate limits, DC about dead chats, OB about the outbox,
// UP about updates and linking.
// Cases that need the built program or the HTTP API are told in their own packages.
package e2e
