package config

import (
	"time"

	"github.com/robfig/cron/v3"
)

// anyHour marks an hour field of `*` in the library's schedules (starBit in its spec.go).
const anyHour = 1 << 63

// onceADay lets a cron line that names its hours run once for each local date on which it is due,
// also when the clocks change: the library would leave out 02:30 on the day that has none, and run
// 01:30 twice on the day that has two. Lines for any hour, and @every, go by real time.
func onceADay(s cron.Schedule, zone *time.Location) cron.Schedule {
	spec, isSpec := s.(*cron.SpecSchedule)
	if !isSpec || spec.Hour&anyHour != 0 {
		return s
	}
	flat := *spec
	flat.Location = time.UTC
	return calendar{&flat, zone}
}

// calendar finds the next time on a calendar without zones, and then the instant that it names.
type calendar struct {
	flat *cron.SpecSchedule // in UTC, which stands for the wall clock of zone
	zone *time.Location
}

// Next implements cron.Schedule.
func (c calendar) Next(t time.Time) time.Time {
	wall := onWall(t.In(c.zone), time.UTC)
	for {
		wall = c.flat.Next(wall)
		if wall.IsZero() {
			return wall
		}
		// In the hour that comes twice this is one of the two, always the same; in the hour that
		// is left out it is the time that the old or the new offset gives it (package time, Date).
		if at := onWall(wall, c.zone); at.After(t) {
			return at.In(t.Location())
		}
	}
}

// onWall is the instant at which the clock in a zone shows what t shows.
func onWall(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	return time.Date(year, month, day, hour, minute, second, 0, zone)
}
