package main

import (
	"fmt"
	"runtime"

	"notifier/internal/app"
)

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(p *program) error {
	_, err := fmt.Fprintf(p.stdout, "notifier %s (%s, %s/%s)\n", app.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
