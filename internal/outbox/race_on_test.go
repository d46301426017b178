//go:build race

package outbox

// raceDetector: the histories look into a dispatcher that rests. Nothing runs then, but the race
// detector cannot know that of memory that a later round writes.
const raceDetector = true
