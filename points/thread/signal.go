package thread

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// SignalKind names a signal.
type SignalKind string

// The signals.
const (
	TurnStarted                  SignalKind = "turn_started"
	TurnCompleted                SignalKind = "turn_completed"
	TurnAwaitingPlanConfirmation SignalKind = "turn_awaiting_plan_confirmation"
	TurnFailed                   SignalKind = "turn_failed"
	TurnCancelled                SignalKind = "turn_cancelled"
	ApprovalRequested            SignalKind = "approval_requested"
	ApprovalResolved             SignalKind = "approval_resolved"
	UserInputRequested           SignalKind = "user_input_requested"
	UserInputResolved            SignalKind = "user_input_resolved"
	HistoryRolledBack            SignalKind = "history_rolled_back"
	ContextCompacted             SignalKind = "context_compacted"
	MaintenanceCompactingStarted SignalKind = "maintenance_compacting_started"
	MaintenanceCompleted         SignalKind = "maintenance_completed"
)

// Signal is something that happened in a thread.
type Signal struct {
	Kind   SignalKind
	Thread string
	Turn   string // blank outside a turn
	CallID string // of an approval or a question
	Time   time.Time
}

// SignalQueue is how many signals wait for one observer; when more come, the oldest waiting one is dropped and counted.
const SignalQueue = 256

// SignalObserver receives signals in the order of their publication, each entry from a queue of its own. Publishing never
// waits.
type SignalObserver interface {
	Signal(ctx context.Context, s Signal) error
}

// SignalFunc makes a SignalObserver of a function.
func SignalFunc(f func(ctx context.Context, s Signal) error) SignalObserver {
	return signalFunc(f)
}

type signalFunc func(ctx context.Context, s Signal) error

func (f signalFunc) Signal(ctx context.Context, s Signal) error { return f(ctx, s) }

// Signals is the point thread.signal.
var Signals = contrib.Define(contrib.Spec[SignalObserver]{
	Name: "thread.signal", Doc: "Receives what happens in threads, from a bounded queue.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.Pumped, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardSignal,
})
