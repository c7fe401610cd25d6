package compaction

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// ToolPolicy says which tools' results may be dropped.
//
// Name is the policy's name in notes; it is read once, at the add. Compactable answers for a tool by its flat name: known
// false is no opinion. Without an answer of any policy a result is kept. An error or a panic is no opinion. Calls for
// different threads may overlap.
type ToolPolicy interface {
	Name() string
	Compactable(ctx context.Context, tool string) (yes, known bool, err error)
}

// BuiltinToolNames is the target of the built-in list of tools.
const BuiltinToolNames = "builtin-tool-names"

// ToolPolicyFunc makes a policy of a name and a function.
func ToolPolicyFunc(name string, compactable func(ctx context.Context, tool string) (yes, known bool, err error)) ToolPolicy {
	return toolPolicyFunc{name, compactable}
}

type toolPolicyFunc struct {
	name        string
	compactable func(context.Context, string) (bool, bool, error)
}

func (f toolPolicyFunc) Name() string { return f.name }
func (f toolPolicyFunc) Compactable(ctx context.Context, tool string) (yes, known bool, err error) {
	return f.compactable(ctx, tool)
}

// ToolPolicies is the point compaction.tool_policy: the first answer counts.
var ToolPolicies = contrib.Define(contrib.Spec[ToolPolicy]{
	Name: "compaction.tool_policy", Doc: "Says which tools' results may be dropped; the first answer counts.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Targets:  []contrib.Target{{Name: BuiltinToolNames, Order: 100, Doc: "Built-in tools whose output can be had again."}},
	Describe: describePolicy,
	Guard:    guardPolicy,
})
