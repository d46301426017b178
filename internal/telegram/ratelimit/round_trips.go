package ratelimit

import (
	"slices"
	"time"
)

const (
	// enoughTrips is how many round trips must be known before any part of them is taken for
	// granted; it is also how many of the latest make up the middle one.
	enoughTrips = 64
	// tripsPerAge: the smallest round trip is the smallest of the last one to two thousand, so
	// that a route that has become longer for good is believed in the end.
	tripsPerAge = 1024
)

// roundTrips learns from the calls how much of a round trip is surely spent on the way.
//
// The floor must not exceed the fastest way there plus the fastest way back. The smallest round
// trip seen is close to that sum, but above it when the way jitters, as one trip is hardly the
// fastest in both directions. How much it jitters shows in the distance of the middle trip from
// the smallest one; twice that is taken off. On a steady way nothing is lost by it, on one that
// jitters the windows get longer by at most one round trip, and before enough is known nothing
// is taken for granted.
type roundTrips struct {
	latest     [enoughTrips]time.Duration
	n          int
	young, old time.Duration // the smallest of this age and of the one before; 0: none
	value      time.Duration // the floor, kept until the next trip
}

// note adds the round trip of an answered call.
func (r *roundTrips) note(trip time.Duration) {
	if trip <= 0 {
		return // two clocks were mixed: it teaches nothing
	}
	if r.n%tripsPerAge == 0 && r.n > 0 {
		r.old, r.young = r.young, 0
	}
	r.latest[r.n%enoughTrips] = trip
	r.n++
	if r.young == 0 || trip < r.young {
		r.young = trip
	}
	r.value = r.measure()
}

// floor is what every round trip surely takes.
func (r *roundTrips) floor() time.Duration { return r.value }

func (r *roundTrips) measure() time.Duration {
	if r.n < enoughTrips {
		return 0
	}
	smallest := r.young
	if r.old > 0 && r.old < smallest {
		smallest = r.old
	}
	sorted := r.latest
	slices.Sort(sorted[:])
	jitter := sorted[enoughTrips/2] - smallest
	return max(0, min(smallest-2*jitter, maxFloor))
}
