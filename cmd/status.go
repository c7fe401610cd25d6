package crystalcmd

import "github.com/crystalkernel/crystal/points/status"

// noStatus takes the texts of status fields and shows none: a headless host has no status line.
type noStatus struct{}

var _ status.Updates = noStatus{}

// Set drops the text.
func (noStatus) Set(string, string) {}

// Clear does nothing.
func (noStatus) Clear(string) {}
