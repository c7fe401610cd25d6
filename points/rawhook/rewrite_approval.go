package rawhook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/tool"
)

// RewriteApproval is the contract of rawhook.rewrite_approval.
//
// RewriteApproval returns another classification, lower ones included, or nil to keep it. The approval stage still
// decides. Calls may overlap; the hook owns its arguments, which are copies.
type RewriteApproval interface {
	RewriteApproval(ctx context.Context, c hook.Call, k tool.Classification) (*tool.Classification, error)
}

// RewriteApprovalFunc makes a RewriteApproval of a function.
func RewriteApprovalFunc(f func(ctx context.Context, c hook.Call, k tool.Classification) (*tool.Classification, error)) RewriteApproval {
	return rewriteApprovalFunc(f)
}

type rewriteApprovalFunc func(ctx context.Context, c hook.Call, k tool.Classification) (*tool.Classification, error)

func (f rewriteApprovalFunc) RewriteApproval(ctx context.Context, c hook.Call, k tool.Classification) (*tool.Classification, error) {
	return f(ctx, c, k)
}

// RewriteApprovals is the point rawhook.rewrite_approval.
var RewriteApprovals = contrib.Define(contrib.Spec[RewriteApproval]{
	Name: "rawhook.rewrite_approval", Doc: "Replaces the classification of a call.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardRewriteApproval,
})
