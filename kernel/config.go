package kernel

import (
	"log/slog"
	"time"

	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/tool"
)

// Config sets up a kernel. The zero value works: everything is kept in memory, limits are the defaults.
type Config struct {
	// Home is the directory for outputs that were cut (spill/). Blank: they are cut and not kept.
	Home string
	// Version of the host, stored with each thread.
	Version string
	// Client is the origin that prompt sections see: run, app, …
	Client string
	// Limits of a turn.
	Limits Limits
	// Threshold is the fraction of the context window at which a thread is compacted; 0 stands for 0.8.
	Threshold float64
	// NoCompaction keeps the kernel from compacting on its own.
	NoCompaction bool
	// Commands are the slash commands of the host in order of precedence. A name is kept by the first that has it.
	Commands []HostCommand
	// DataDirs gives the data directories of the owner of a tool; nil: none.
	DataDirs func(tool.Key) tool.DataDirs
	// ReservedTools are canonical names of built-in tools that are reserved whether or not they are planned.
	ReservedTools []string
	// Profiles are the workspace's own profiles of subagents. One takes the place of a contributed profile with its name; a
	// blank Runtime is the kernel's own, and one that nobody offers leaves the profile out. They need [Subagents] in the app.
	Profiles []subagent.Profile
	// Logger takes what must not reach a model or a terminal; nil: the *slog.Logger of the fx graph, or slog.Default().
	Logger *slog.Logger
}

// Limits of one turn. Zero values are the defaults; negative ones stand for no limit.
type Limits struct {
	ModelCalls int           // model rounds; 1,024
	ToolCalls  int           // tool calls; 8,192. NoToolCalls for none at all
	Duration   time.Duration // wall time; 168 h
	ToolOutput int           // characters of one result that reach the model; 100,000
}

// NoToolCalls as Limits.ToolCalls allows no tool call.
const NoToolCalls = -1 << 31

// Unlimited stands for no limit.
const Unlimited = -1

func (l Limits) or(d Limits) Limits {
	if l.ModelCalls == 0 {
		l.ModelCalls = d.ModelCalls
	}
	if l.ToolCalls == 0 {
		l.ToolCalls = d.ToolCalls
	}
	if l.Duration == 0 {
		l.Duration = d.Duration
	}
	if l.ToolOutput == 0 {
		l.ToolOutput = d.ToolOutput
	}
	return l
}

var defaultLimits = Limits{ModelCalls: 1024, ToolCalls: 8192, Duration: 168 * time.Hour, ToolOutput: 100_000}
