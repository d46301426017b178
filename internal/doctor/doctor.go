package doctor

import (
	"context"
	"fmt"

	"notifier"
	"notifier/internal/conditions"
	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/outbox"
	"notifier/internal/telegram"
)

// Options are where to look, and how the service would be put together there.
type Options struct {
	Environ []string
	Source  config.Source // where settings are read from
	Outbox  func(config.Settings) *outbox.Outbox
	Client  func(config.Settings) (*telegram.Client, error)
}

// Report is what an examination found, in the order in which it looked.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Finding is what one check found.
type Finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	// Mend is a command for a shell that mends it; where a person must choose, what they begin with.
	Mend string `json:"mend,omitempty"`
}

// Failed is how many checks found something wrong.
func (r Report) Failed() (n int) {
	for _, f := range r.Findings {
		if !f.OK {
			n++
		}
	}
	return n
}

// Examine looks for what is wrong. It changes nothing, and asks Telegram only what leaves no trace.
func Examine(ctx context.Context, o Options) Report {
	e := &examination{Options: o}
	e.run(ctx)
	return e.Report
}

// examination is one run. Later checks need what earlier ones found sound.
type examination struct {
	Options
	Report
	settings config.Settings
	db       *database.DB // nil: there is none, or it cannot be opened
	outbox   *outbox.Outbox
}

func (e *examination) well(check, format string, args ...any) {
	e.Findings = append(e.Findings, Finding{Check: check, OK: true, Detail: fmt.Sprintf(format, args...)})
}

func (e *examination) bad(check, mend, format string, args ...any) {
	e.Findings = append(e.Findings, Finding{Check: check, Detail: fmt.Sprintf(format, args...), Mend: mend})
}

func (e *examination) run(ctx context.Context) {
	e.checkSettingsFile()
	if !e.checkSettings() {
		return // nothing that follows would be about the right things
	}
	e.checkToken()
	e.checkDisk()
	e.checkFileSystem()
	sound := e.checkDatabaseFile()
	if sound && e.openDatabase(ctx) {
		defer e.db.Close()                        //nolint:errcheck // it was only read
		if sound = e.checkIntegrity(ctx); sound { // what a damaged one says of the rest means nothing
			sound = e.checkIdentity(ctx)
			e.checkConditions(ctx)
		}
	}
	e.checkService(ctx)
	if sound || e.noDatabase() { // with another bot's database, nothing may be asked with this token
		e.checkTelegram(ctx)
	}
}

// openDatabase opens a database that is there. A missing one is no fault: serve creates it.
func (e *examination) openDatabase(ctx context.Context) bool {
	db, err := database.Open(ctx, e.settings.Database, notifier.Schema, notifier.SchemaVersion, database.WithoutCreating())
	if err != nil {
		e.bad("database", e.mendDatabase(err), "%s", firstLine(err))
		return false
	}
	e.db, e.outbox = db, e.Outbox(e.settings)
	return true
}

// checkConditions adds what conditions knows to be wrong. How the sender stood when it last ran says
// nothing while nobody sends.
func (e *examination) checkConditions(ctx context.Context) {
	holder, err := e.db.SenderHolder()
	if err != nil {
		e.bad("sender", "ls -l "+quoted(e.databaseFile()), "%v", err)
		return
	}
	checks := conditions.Checks{DB: e.db, Outbox: e.outbox, StaffChatID: e.settings.StaffChatID}
	held, staff := false, false
	for _, c := range checks.All(ctx) {
		switch c.Code {
		case conditions.Unreadable:
			e.bad("database", e.restore(), "%s", c.Detail)
			return
		case conditions.StaffDead, conditions.StaffDoubtful:
			staff = true
			e.bad("staff chat", c.Fix, "%s", c.Detail)
			continue
		case conditions.Unserved, conditions.Unsendable:
			e.bad("messages", c.Fix, "%s", c.Detail)
			continue
		case conditions.SenderStopped, conditions.SenderWaiting, conditions.Outage:
			if holder == nil {
				continue
			}
		case conditions.SenderPaused:
			if held {
				continue // it is paused because it is a copy
			}
		case conditions.OldestDueLate:
			if held {
				continue // the reason was told
			}
			if holder == nil {
				c.Fix, c.Detail = "notifier dispatch --until-empty", "nobody sends: start `notifier serve`, or send once; "+c.Detail
			}
		}
		held = true
		e.bad("sender", c.Fix, "%s", c.Detail)
	}
	switch {
	case held:
	case holder == nil:
		e.well("sender", "nobody sends at present, and nothing is late")
	default:
		e.well("sender", "%s sends", holder)
	}
	switch {
	case e.settings.StaffChatID == 0:
		e.well("staff chat", "none is set: nobody hears of new orders")
	case !staff:
		e.well("staff chat", "nothing is known against it")
	}
}
