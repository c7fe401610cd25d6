package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Compaction is the contract of hook.compaction.
//
// Compaction returns text to append as hook.prompt does. Calls may overlap; the hook owns its arguments, which are
// copies.
type Compaction interface {
	Compaction(ctx context.Context, s Scope, p Phase, text string) (add string, err error)
}

// CompactionFunc makes a Compaction of a function.
func CompactionFunc(f func(ctx context.Context, s Scope, p Phase, text string) (add string, err error)) Compaction {
	return compactionFunc(f)
}

type compactionFunc func(ctx context.Context, s Scope, p Phase, text string) (add string, err error)

func (f compactionFunc) Compaction(ctx context.Context, s Scope, p Phase, text string) (add string, err error) {
	return f(ctx, s, p, text)
}

// Compactions is the point hook.compaction.
var Compactions = contrib.Define(contrib.Spec[Compaction]{
	Name: "hook.compaction", Doc: "Appends to the prompt of a summary request or to the summary.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardCompaction,
})
