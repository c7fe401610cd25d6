package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// ToolCall is the contract of hook.tool_call.
//
// ToolCall returns another name or other arguments for the same call id, or nil to keep the call. Calls may
// overlap; the hook owns its arguments, which are copies.
type ToolCall interface {
	ToolCall(ctx context.Context, c Call) (*Call, error)
}

// ToolCallFunc makes a ToolCall of a function.
func ToolCallFunc(f func(ctx context.Context, c Call) (*Call, error)) ToolCall {
	return toolCallFunc(f)
}

type toolCallFunc func(ctx context.Context, c Call) (*Call, error)

func (f toolCallFunc) ToolCall(ctx context.Context, c Call) (*Call, error) {
	return f(ctx, c)
}

// ToolCalls is the point hook.tool_call.
var ToolCalls = contrib.Define(contrib.Spec[ToolCall]{
	Name: "hook.tool_call", Doc: "Rewrites the name or the arguments of a call before it is dispatched.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 60 * time.Second,
	Guard: guardToolCall,
})
