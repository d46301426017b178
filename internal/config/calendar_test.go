package config

import (
	"testing"
	"testing/synctest"
	"time"
)

// Field case CR-3: both changes of the clocks in New York in 2026, by a virtual clock.
func TestCR3OneRunForEachLocalDate(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"30 2 * * *", "30 1 * * *"} {
		for _, change := range []time.Time{
			time.Date(2026, 3, 8, 0, 0, 0, 0, zone), time.Date(2026, 11, 1, 0, 0, 0, 0, zone),
		} {
			t.Run(line+change.Format(" on 2 January"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := Defaults()
					s.Timezone, s.PurgeSchedule = "America/New_York", line
					schedule, err := s.PurgeTimes()
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Until(change.AddDate(0, 0, -2)))
					runs := map[string]int{}
					for end := change.AddDate(0, 0, 3); ; {
						next := schedule.Next(time.Now())
						if next.After(end) {
							break
						}
						time.Sleep(time.Until(next))
						runs[time.Now().In(zone).Format(time.DateOnly)]++
					}
					if len(runs) != 5 {
						t.Errorf("runs on %v", runs)
					}
					for date, n := range runs {
						if n != 1 {
							t.Errorf("%d runs on %s", n, date)
						}
					}
				})
			})
		}
	}
}

// A service that starts in the second 01:xx of the autumn must not repeat what ran in the first.
func TestAStartWithinTheRepeatedHourRunsNothingTwice(t *testing.T) {
	s := Defaults()
	s.Timezone, s.PurgeSchedule = "America/New_York", "30 1 * * *"
	schedule, err := s.PurgeTimes()
	if err != nil {
		t.Fatal(err)
	}
	zone, _ := time.LoadLocation("America/New_York")
	first := schedule.Next(time.Date(2026, 11, 1, 0, 0, 0, 0, zone))
	if next := schedule.Next(first.Add(50 * time.Minute)); next.In(zone).Day() != 2 {
		t.Errorf("after %v comes %v", first.In(zone), next.In(zone))
	}
}

// A safety pass for any hour goes on in the hour that comes twice.
func TestEveryMinuteGoesByRealTime(t *testing.T) {
	s := Defaults()
	s.Timezone = "America/New_York"
	for _, line := range []string{"* * * * *", "@every 1m"} {
		s.Schedule = line
		schedule, err := s.DispatchTimes()
		if err != nil {
			t.Fatal(err)
		}
		for at := time.Date(2026, 11, 1, 4, 0, 30, 0, time.UTC); at.Hour() < 8; at = at.Add(time.Minute) {
			if next := schedule.Next(at); next.Sub(at) > time.Minute {
				t.Fatalf("%s: after %v comes %v", line, at, next)
			}
		}
	}
}
