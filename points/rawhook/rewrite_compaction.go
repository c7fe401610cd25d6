package rawhook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
)

// RewriteCompaction is the contract of rawhook.rewrite_compaction.
//
// RewriteCompaction returns another text, empty included, or nil to keep it. Calls may overlap; the hook owns its
// arguments, which are copies.
type RewriteCompaction interface {
	RewriteCompaction(ctx context.Context, s hook.Scope, p hook.Phase, text string) (*string, error)
}

// RewriteCompactionFunc makes a RewriteCompaction of a function.
func RewriteCompactionFunc(f func(ctx context.Context, s hook.Scope, p hook.Phase, text string) (*string, error)) RewriteCompaction {
	return rewriteCompactionFunc(f)
}

type rewriteCompactionFunc func(ctx context.Context, s hook.Scope, p hook.Phase, text string) (*string, error)

func (f rewriteCompactionFunc) RewriteCompaction(ctx context.Context, s hook.Scope, p hook.Phase, text string) (*string, error) {
	return f(ctx, s, p, text)
}

// RewriteCompactions is the point rawhook.rewrite_compaction.
var RewriteCompactions = contrib.Define(contrib.Spec[RewriteCompaction]{
	Name: "rawhook.rewrite_compaction", Doc: "Replaces the prompt of a summary request or the summary.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardRewriteCompaction,
})
