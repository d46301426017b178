package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"notifier/internal/config"
)

type doctorCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run looks for what is wrong. It changes nothing, and asks Telegram only what leaves no trace.
func (c *doctorCmd) Run(ctx context.Context, p *program) error {
	d := &doctor{program: p}
	d.examine(ctx)
	failed := 0
	for _, f := range d.Findings {
		if !f.OK {
			failed++
		}
	}
	var err error
	if c.JSON {
		err = json.NewEncoder(p.stdout).Encode(d)
	} else {
		err = d.print(p.stdout)
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d checks failed; each says what mends it", failed, len(d.Findings))
	}
	return err
}

// finding is what one check found.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	// Mend is a command for a shell that mends it; where a person must choose, what they begin with.
	Mend string `json:"mend,omitempty"`
}

// doctor is one examination. Later checks need what earlier ones found sound.
type doctor struct {
	*program
	Findings []finding `json:"findings"`
	settings config.Settings
	house    *house
}

func (d *doctor) well(check, format string, args ...any) {
	d.Findings = append(d.Findings, finding{Check: check, OK: true, Detail: fmt.Sprintf(format, args...)})
}

func (d *doctor) bad(check, mend, format string, args ...any) {
	d.Findings = append(d.Findings, finding{Check: check, Detail: fmt.Sprintf(format, args...), Mend: mend})
}

func (d *doctor) examine(ctx context.Context) {
	d.checkSettingsFile()
	if !d.checkSettings() {
		return // nothing that follows would be about the right things
	}
	d.checkToken()
	d.checkDisk()
	sound := d.checkDatabaseFile()
	if sound && d.openDatabase(ctx) {
		defer d.house.close()
		d.checkIntegrity(ctx)
		sound = d.checkIdentity(ctx)
		d.checkSender(ctx)
		d.checkStaff(ctx)
	}
	d.checkService(ctx)
	if sound || d.noDatabase() { // with another bot's database, nothing may be asked with this token
		d.checkTelegram(ctx)
	}
}

// openDatabase opens a database that is there. A missing one is no fault: serve creates it.
func (d *doctor) openDatabase(ctx context.Context) bool {
	h, err := build(ctx, d.settings, newLog(d.stderr, slog.LevelError+1, d.settings.LogFormat))
	if err == nil {
		d.house = h
		return true
	}
	d.bad("database", d.mendDatabase(err), "%s", firstLine(err))
	return false
}

func (d *doctor) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range d.Findings {
		word := "ok"
		if !f.OK {
			word = "FAIL"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", word, f.Check, printable(f.Detail))
		if f.Mend != "" {
			fmt.Fprintf(t, "\t\tmend: %s\n", f.Mend)
		}
	}
	return t.Flush()
}
