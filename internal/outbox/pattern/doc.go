// Package pattern holds no code but tests: they tell what an outbox is for, one file per lesson,
// in the order of the letters. The channel is a message broker in memory that can be down, fail
// on a given call, or lose the answer after it has delivered; the outbox is the real one.
//
//	a  writing directly: commit, then publish – and the event is lost
//	b  with the outbox the event waits in the table, and goes when the broker is back
//	c  an error inside the transaction takes order and event back together
//	d  a second pass publishes nothing twice
//	e  what stops everything, and what stops one recipient only
//	f  a lost answer means a second copy, and what a consumer does about that
//	g  order is kept under random failures, whatever the batch size
package pattern
