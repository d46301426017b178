package app

import (
	"context"
	"time"

	"notifier/internal/alerts"
	"notifier/internal/conditions"
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/outbox"
)

func (a *App) newConditions() *conditions.Checks {
	return &conditions.Checks{
		DB: a.db, Outbox: a.box, StaffChatID: a.settings.StaffChatID,
		ClockDoubt: a.clockDoubt, Trouble: a.trouble, OutageSince: a.outageSince, NotReceiving: a.notReceiving,
	}
}

// senderStatus is how the sender stands.
func (a *App) senderStatus(tx database.Tx, now time.Time) (outbox.SenderStatus, error) {
	return conditions.Sender(tx, a.db, a.box, now)
}

// clockDoubt and outageSince are known while this process sends.
func (a *App) clockDoubt() string {
	if d := a.sender.Load(); d != nil && a.sends() {
		return d.ClockDoubt()
	}
	return ""
}

func (a *App) outageSince() time.Time {
	if d := a.sender.Load(); d != nil && a.sends() {
		return d.Outage()
	}
	return time.Time{}
}

// trouble is why this process's last pass failed.
func (a *App) trouble() string {
	if d := a.sender.Load(); d != nil && a.sends() {
		return d.Trouble()
	}
	return ""
}

// problems are all conditions, for /readyz.
func (a *App) problems(ctx context.Context) []httpapi.Problem {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var list []httpapi.Problem
	for _, c := range a.conditions.All(ctx) {
		list = append(list, httpapi.Problem{Code: c.Code, Detail: c.Detail})
	}
	return list
}

// alarms are the conditions for which somebody is woken.
func (a *App) alarms(ctx context.Context) []alerts.Alarm {
	var list []alerts.Alarm
	for _, c := range a.conditions.All(ctx) {
		if c.Alarm != "" {
			list = append(list, alerts.Alarm{Code: c.Code, Detail: c.Alarm})
		}
	}
	return list
}

// monitor calls the addresses outside. Only the holder of the sender's lock does.
func (a *App) monitor() *alerts.Monitor {
	return alerts.New(alerts.Options{
		AlertURL: a.settings.AlertURL.Reveal(), HeartbeatURL: a.settings.HeartbeatURL.Reveal(), Find: a.alarms, Log: a.log,
	})
}
