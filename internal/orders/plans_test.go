package orders_test

import (
	"os"
	"testing"

	"notifier/internal/database/plans"
)

func TestMain(m *testing.M) {
	os.Exit(plans.Run(m, "notifier_orders", "notifier_links", "notifier_customers", "notifier_guesses"))
}
