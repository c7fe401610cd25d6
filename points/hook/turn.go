package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// TurnObserver is the contract of hook.turn: it observes the start and the end of a turn.
type TurnObserver interface {
	TurnStarted(ctx context.Context, t Turn) error
	TurnFinished(ctx context.Context, t Turn) error
}

// Turns is the point hook.turn.
var Turns = contrib.Define(contrib.Spec[TurnObserver]{
	Name: "hook.turn", Doc: "Observes the start and the end of a turn.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardTurn,
})
