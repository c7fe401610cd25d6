package thread

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Turn describes a turn to its observers.
type Turn struct {
	Thread    string
	ID        string
	Workspace string
	Mode      string
	Agent     string // type of the subagent; blank for the main agent
	Provider  string
	Model     string
}

// Status says how a turn ended.
type Status string

// The statuses.
const (
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// TurnObserver is told of the start and the end of turns, in pairs. Calls are awaited; a failing observer never fails
// the turn. cause is nil when the turn completed; for a plugin it carries the stop reason as its text alone.
type TurnObserver interface {
	TurnStarted(ctx context.Context, t Turn) error
	TurnEnded(ctx context.Context, t Turn, s Status, cause error) error
}

// TurnObservers is the point turn.lifecycle.
var TurnObservers = contrib.Define(contrib.Spec[TurnObserver]{
	Name: "turn.lifecycle", Doc: "Is told when a turn starts and how it ended.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardTurnObserver,
})
