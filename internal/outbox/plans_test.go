package outbox

import (
	"os"
	"testing"

	"notifier/internal/database/plans"
)

func TestMain(m *testing.M) {
	code := plans.Run(m, "outbox", "notifier_recipients", "notifier_attempts", "notifier_tasks", "notifier_pauses")
	for _, c := range cleanups {
		c()
	}
	os.Exit(code)
}
