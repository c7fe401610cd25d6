//go:build unix && !linux

package crystalcmd

import "golang.org/x/sys/unix"

// dup makes to a copy of from.
func dup(from, to int) error { return unix.Dup2(from, to) }
