package outbox

import "time"

// backoffs are the waits after the first, second, … counted failure of a message. The last one
// serves all further failures.
var backoffs = []time.Duration{
	time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute,
	10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
}

// backoff is how long a message waits after its nth counted failure, spread by a fifth to either
// side so that messages which failed together do not return together. random is from [0, 1).
func backoff(failures int, random float64) time.Duration {
	step := backoffs[min(max(failures, 1), len(backoffs))-1]
	return time.Duration(float64(step) * (0.8 + 0.4*random))
}

// Waits when the channel says "too fast" without saying for how long: from 5 s, doubling to 60 s.
func floodWait(step int) time.Duration {
	return min(5*time.Second<<min(step, 10), time.Minute)
}

// doubts are the waits before each probe of a doubtful recipient, after its first refusal.
var doubts = []time.Duration{time.Minute, 10 * time.Minute, time.Hour}

// resendAfter is how long a message that the channel may have taken waits at least for its one
// further try: 30 s, or as long as a call may take where that is longer.
func resendAfter(sendTimeout time.Duration) time.Duration { return max(30*time.Second, sendTimeout) }

// probeWait is the ladder of an outage: 1 s, doubling to 60 s.
func probeWait(step int) time.Duration {
	return min(time.Second<<min(step, 10), time.Minute)
}
