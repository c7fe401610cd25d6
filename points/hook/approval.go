package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// Approval is the contract of hook.approval.
//
// Approval returns advice, or nil for none. Risk only rises; a required prompt is never taken back. Calls may
// overlap; the hook owns its arguments, which are copies.
type Approval interface {
	Approval(ctx context.Context, c Call, k tool.Classification) (*Advice, error)
}

// ApprovalFunc makes a Approval of a function.
func ApprovalFunc(f func(ctx context.Context, c Call, k tool.Classification) (*Advice, error)) Approval {
	return approvalFunc(f)
}

type approvalFunc func(ctx context.Context, c Call, k tool.Classification) (*Advice, error)

func (f approvalFunc) Approval(ctx context.Context, c Call, k tool.Classification) (*Advice, error) {
	return f(ctx, c, k)
}

// Approvals is the point hook.approval.
var Approvals = contrib.Define(contrib.Spec[Approval]{
	Name: "hook.approval", Doc: "Raises the risk of a call or requires a prompt.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardApproval,
})
