package thread

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Info describes a thread to its observers.
type Info struct {
	ID        string
	Workspace string
	Mode      string
	Parent    string // the thread that it was forked from, or that started it as a subagent; blank for none
	Agent     string // type of the subagent; blank for the main agent
}

// Observer is told of the life of threads. Calls are awaited, one after another; a failing observer stops nothing.
// Deleting runs before the thread's own entries are released. A fork is a thread that starts.
type Observer interface {
	Started(ctx context.Context, t Info) error
	Resumed(ctx context.Context, t Info) error
	Deleting(ctx context.Context, t Info) error
}

// Observers is the point thread.lifecycle.
var Observers = contrib.Define(contrib.Spec[Observer]{
	Name: "thread.lifecycle", Doc: "Is told when a thread starts, is resumed or is deleted.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardObserver,
})
