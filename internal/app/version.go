package app

import "runtime/debug"

// Version is what Go has written into the binary: a tag, or the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
