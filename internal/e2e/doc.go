// Package e2e holds no code but tests, of the parts together and of the built program: failures
// that people who run services like this one have met. Most run in an env (env_test.go): the real
// database, outbox, Telegram client and rate limiter against the sandbox, under a virtual clock, so
// that a wait of hours takes no time. Those about the process run the built program in a programEnv
// (program_test.go). The names of the tests begin with the case: RL is about rate limits, DC about
// dead chats, OB about the outbox, UP about updates and linking.
package e2e
