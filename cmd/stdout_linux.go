package crystalcmd

import "golang.org/x/sys/unix"

// dup makes to a copy of from.
func dup(from, to int) error { return unix.Dup3(from, to, 0) }
