package httpapi_test

import (
	"os"
	"testing"

	"notifier/internal/database/plans"
)

func TestMain(m *testing.M) { os.Exit(plans.Run(m)) }
