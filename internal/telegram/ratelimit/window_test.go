package ratelimit

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// network draws the way of each call: there, at the server, and back.
type network struct {
	out, back             time.Duration // the fastest way
	jitterOut, jitterBack time.Duration
	stall                 int // in a thousand: the answer takes this much longer
	stallFor              time.Duration
	wakeLate              time.Duration // how late the caller may be
}

func drawNetwork(t *rapid.T) network {
	ms := func(name string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Millisecond
	}
	return network{
		out: ms("out", 150), back: ms("back", 150),
		jitterOut: ms("jitterOut", 200), jitterBack: ms("jitterBack", 200),
		stall: rapid.IntRange(0, 30).Draw(t, "stall"), stallFor: ms("stallFor", 8000),
		wakeLate: ms("wakeLate", 25),
	}
}

// dice is a small generator with a drawn seed: a draw of its own for every delay of thousands of
// calls would be too slow.
type dice uint64

func (d *dice) below(n time.Duration) time.Duration {
	*d ^= *d << 13
	*d ^= *d >> 7
	*d ^= *d << 17
	if n <= 0 {
		return 0
	}
	return time.Duration(uint64(*d) % uint64(n+1))
}

type flight struct {
	address        string
	started, ended time.Duration
}

// simulate sends n messages to as many chats over the network as early as the limiter allows, and
// returns when the server saw them.
func simulate(p *Limiter, n int, net network, d *dice) []time.Duration {
	var arrivals []time.Duration
	var inFlight []flight
	land := func(now time.Duration) {
		slices.SortFunc(inFlight, func(a, b flight) int { return int(a.ended - b.ended) })
		for len(inFlight) > 0 && inFlight[0].ended <= now {
			f := inFlight[0]
			p.Ended(f.address, after(f.started), after(f.ended), true)
			inFlight = inFlight[1:]
		}
	}
	for now := time.Duration(0); len(arrivals) < n; {
		land(now)
		address := fmt.Sprint(len(arrivals))
		if next := p.Next(address, after(now)).Sub(epoch); next > now {
			if len(inFlight) > 0 && inFlight[0].ended < next {
				now = inFlight[0].ended
			} else {
				now = next + d.below(net.wakeLate)
			}
			continue
		}
		p.Started(address, after(now))
		arrival := now + net.out + d.below(net.jitterOut)
		back := net.back + d.below(net.jitterBack)
		if int(d.below(999)) < net.stall {
			back += net.stallFor
		}
		arrivals = append(arrivals, arrival)
		inFlight = append(inFlight, flight{address, now, arrival + back})
	}
	slices.Sort(arrivals)
	return arrivals
}

// most is the largest number of arrivals in any span of that length.
func most(arrivals []time.Duration, span time.Duration) int {
	count, first := 0, 0
	for i, a := range arrivals {
		for a-arrivals[first] >= span {
			first++
		}
		count = max(count, i-first+1)
	}
	return count
}

// The server's limit is exactly the configured rate: there is no slack to hide in.
func TestServerNeverSeesMoreThanTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]float64{28, 28, 1, 2.5, 5, 60}).Draw(t, "rate")
		d := dice(rapid.Uint64Min(1).Draw(t, "seed"))
		net := drawNetwork(t)
		p, err := New(Rates{rate, 1, 18})
		if err != nil {
			t.Fatal(err)
		}
		arrivals := simulate(p, 600, net, &d)
		if got := most(arrivals, time.Second); got > int(rate) {
			t.Fatalf("%d messages in a second at rate %v", got, rate)
		}
	})
}

func TestServerNeverSeesMoreThanTheGroupRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dice(rapid.Uint64Min(1).Draw(t, "seed"))
		net := drawNetwork(t)
		p, err := New(Rates{28, 1, 18})
		if err != nil {
			t.Fatal(err)
		}
		var arrivals []time.Duration
		for now := time.Duration(0); len(arrivals) < 100; {
			if next := p.Next("-100", after(now)).Sub(epoch); next > now {
				now = next + d.below(net.wakeLate)
				continue
			}
			p.Started("-100", after(now))
			arrival := now + net.out + d.below(net.jitterOut)
			ended := arrival + net.back + d.below(net.jitterBack)
			p.Ended("-100", after(now), after(ended), true)
			if n := len(arrivals); n > 0 && now < arrivals[n-1]+time.Second {
				t.Fatalf("started at %v, the message before arrived at %v", now, arrivals[n-1])
			}
			arrivals = append(arrivals, arrival)
			now = ended
		}
		if got := most(arrivals, time.Minute); got > 18 {
			t.Fatalf("%d messages in a minute", got)
		}
	})
}

func TestNextIsNeverBeforeNow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(Rates{rapid.Float64Range(0.01, 100).Draw(t, "bot"), rapid.Float64Range(0.01, 10).Draw(t, "chat"), rapid.Float64Range(0.1, 100).Draw(t, "group")})
		if err != nil {
			t.Fatal(err)
		}
		moment := func(name string) time.Time {
			return after(time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, name)))
		}
		address := rapid.SampledFrom([]string{"1", "2", "-3"})
		t.Repeat(map[string]func(*rapid.T){
			"started": func(t *rapid.T) { p.Started(address.Draw(t, "address"), moment("at")) },
			"ended": func(t *rapid.T) {
				p.Ended(address.Draw(t, "address"), moment("started"), moment("ended"), rapid.Bool().Draw(t, "answered"))
			},
			"slow": func(*rapid.T) { p.Slow(moment("now")) },
			"next": func(t *rapid.T) {
				if now := moment("now"); p.Next(address.Draw(t, "address"), now).Before(now) {
					t.Fatal("before now")
				}
			},
		})
	})
}
