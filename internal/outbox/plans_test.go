package outbox

import (
	"os"
	"testing"

	"notifier/internal/database/plans"
)

func TestMain(m *testing.M) {
	os.Exit(plans.Run(m, "outbox", "notifier_recipients", "notifier_attempts", "notifier_tasks", "notifier_pauses"))
}
