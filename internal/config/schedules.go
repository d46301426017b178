package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// DispatchTimes is the schedule of the safety pass.
func (s Settings) DispatchTimes() (cron.Schedule, error) {
	return s.cronLine("NOTIFIER_DISPATCH_SCHEDULE", s.Schedule)
}

// PurgeTimes is when old data is erased.
func (s Settings) PurgeTimes() (cron.Schedule, error) {
	return s.cronLine("NOTIFIER_PURGE_SCHEDULE", s.PurgeSchedule)
}

func (s Settings) cronLine(name, line string) (cron.Schedule, error) {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		return nil, &Error{"NOTIFIER_TIMEZONE", "is no time zone such as Europe/Berlin"}
	}
	schedule, err := cron.ParseStandard("CRON_TZ=" + s.Timezone + " " + line)
	if err != nil {
		return nil, &Error{name, fmt.Sprintf("is no cron line such as `@every 1s` or `30 3 * * *` (%v)", err)}
	}
	if every, ok := strings.CutPrefix(strings.TrimSpace(line), "@every "); ok {
		// The library makes a second of whatever is shorter, and of what is negative.
		if d, err := time.ParseDuration(strings.TrimSpace(every)); err == nil && d < time.Second {
			return nil, &Error{name, fmt.Sprintf("comes every %s: give a second at least, as in `@every 1s`", d)}
		}
	}
	if schedule.Next(time.Now()).IsZero() {
		return nil, &Error{name, "never comes: no day in the next five years fits `" + line + "`"}
	}
	return onceADay(schedule, zone), nil
}
