package kernel

import (
	"context"

	"github.com/crystalkernel/crystal/points/command"
)

// HostCommand is a slash command that a host has beside the contributed ones: a verb of its clients, or a command from a
// file. [Config] lists them.
type HostCommand struct {
	Name        string // in lower case, without the slash
	Aliases     []string
	Description string
	// Owner stands before the name where another command keeps it, as in /user:review. A verb has none: its name and its
	// aliases go before all others, so that it needs no other name.
	Owner string
	// Expand returns the text of a turn, which is not looked at for commands again. nil: a verb, which its client carries
	// out. Calls may overlap.
	Expand func(ctx context.Context, i command.Invocation) (string, error)
}

// verb reports whether a client carries the command out.
func (c *HostCommand) verb() bool { return c.Expand == nil }
