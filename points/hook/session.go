package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// SessionObserver is the contract of hook.session: it observes. Start and end alternate strictly; the end carries the
// session that is being left.
type SessionObserver interface {
	SessionStarted(ctx context.Context, s Session) error
	SessionEnded(ctx context.Context, s Session) error
}

// Sessions is the point hook.session.
var Sessions = contrib.Define(contrib.Spec[SessionObserver]{
	Name: "hook.session", Doc: "Observes the start and the end of a session.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardSession,
})
