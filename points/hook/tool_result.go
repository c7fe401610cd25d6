package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// ToolResult is the contract of hook.tool_result.
//
// ToolResult returns another text or other images, or nil to keep the result. Success must stay. Calls may
// overlap; the hook owns its arguments, which are copies.
type ToolResult interface {
	ToolResult(ctx context.Context, c Call, r Result) (*Result, error)
}

// ToolResultFunc makes a ToolResult of a function.
func ToolResultFunc(f func(ctx context.Context, c Call, r Result) (*Result, error)) ToolResult {
	return toolResultFunc(f)
}

type toolResultFunc func(ctx context.Context, c Call, r Result) (*Result, error)

func (f toolResultFunc) ToolResult(ctx context.Context, c Call, r Result) (*Result, error) {
	return f(ctx, c, r)
}

// ToolResults is the point hook.tool_result.
var ToolResults = contrib.Define(contrib.Spec[ToolResult]{
	Name: "hook.tool_result", Doc: "Replaces the text or the images of a result.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 60 * time.Second,
	Guard: guardToolResult,
})
