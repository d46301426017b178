// Package conditions holds the one list of what can be wrong with a service: the code of each, its
// words for people, the command that mends it, and whether somebody should be woken.
//
// It owns when each of them holds. It does not own what is done about them: /readyz shows all,
// alerts calls its address for those with an Alarm, doctor adds the Fix to its findings, and the
// banner and dispatch say how the sender stands. It only reads, and keeps nothing between two calls.
package conditions
