package dispatch

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// Call is one call as the stages of dispatch see it. Definition and Arguments must not be changed.
type Call struct {
	Thread, Turn   string
	ID, ParentID   string
	Agent          string // subagent; blank for the main agent
	Audience       tool.Audiences
	Definition     *tool.Definition
	Arguments      json.RawMessage
	Classification tool.Classification
	Mode           string
	Approval       string // approval mode
	Workspace      string
	OutputLimit    int  // characters of one result that reach the model
	Images         bool // the turn takes images
}

// Verdict is the answer of a policy or an approver. The zero value denies.
type Verdict struct {
	Allow   bool
	Code    string // of a denial; blank: the stage's default
	Message string
	Params  map[string]any
	// By says who decided: auto, grant, reviewer, operator, no_operator, mode, stage.
	By string
	// Scope of a decision of the operator: once, session, persistent.
	Scope     string
	Rationale string
}

// Allowed is the verdict that allows.
func Allowed() Verdict { return Verdict{Allow: true} }

// Lost is the verdict of a policy or an approver that is gone: the call is denied, because what guarded it can't be asked.
func Lost(pluginID string) Verdict {
	return Verdict{
		Code: tool.CodeUnavailable, Message: tool.TextUnavailable,
		Params: map[string]any{"reason": tool.ReasonGuardLost, "pluginId": pluginID}, By: "stage",
	}
}

// Denied is a verdict that denies with a code of its own.
func Denied(code, message string) Verdict { return Verdict{Code: code, Message: message} }

// Policy may deny a call. Every policy has to allow; they are asked in order until one denies. An error or a panic denies
// too. Calls may overlap. For a plugin c is a copy; nobody changes it.
type Policy interface {
	Evaluate(ctx context.Context, c Call) (Verdict, error)
}

// Approver decides whether a call may run. It may wait for somebody, until ctx is done. Every approver has to allow; they
// are asked in order until one denies. An error or a panic denies too. Calls may overlap. For a plugin c is a copy; nobody
// changes it.
type Approver interface {
	Approve(ctx context.Context, c Call) (Verdict, error)
}

// Recorder is told when a tool starts and how it ended, exactly once each, whatever happens to the turn meanwhile. Calls
// may overlap. For a plugin c and r are copies; nobody changes them. An error is reported and changes nothing.
type Recorder interface {
	Started(ctx context.Context, c Call) error
	Ended(ctx context.Context, c Call, r tool.Result, d time.Duration) error
}

// Normalizer turns a result into the one that is used; nil keeps it. Each is given what the one before it left, and returns
// another result instead of changing r in place. Calls may overlap. An error makes the result unusable.
type Normalizer interface {
	Normalize(ctx context.Context, c Call, r tool.Result) (*tool.Result, error)
}

// PolicyFunc makes a Policy of a function.
func PolicyFunc(f func(ctx context.Context, c Call) (Verdict, error)) Policy {
	return policyFunc(f)
}

type policyFunc func(ctx context.Context, c Call) (Verdict, error)

func (f policyFunc) Evaluate(ctx context.Context, c Call) (Verdict, error) { return f(ctx, c) }

// ApproverFunc makes a Approver of a function.
func ApproverFunc(f func(ctx context.Context, c Call) (Verdict, error)) Approver {
	return approverFunc(f)
}

type approverFunc func(ctx context.Context, c Call) (Verdict, error)

func (f approverFunc) Approve(ctx context.Context, c Call) (Verdict, error) { return f(ctx, c) }

// NormalizerFunc makes a Normalizer of a function.
func NormalizerFunc(f func(ctx context.Context, c Call, r tool.Result) (*tool.Result, error)) Normalizer {
	return normalizerFunc(f)
}

type normalizerFunc func(ctx context.Context, c Call, r tool.Result) (*tool.Result, error)

func (f normalizerFunc) Normalize(ctx context.Context, c Call, r tool.Result) (*tool.Result, error) {
	return f(ctx, c, r)
}

// Targets of the built-in stages.
const (
	DefaultPolicy     = "policy:default"
	DefaultApproval   = "approval:default"
	DefaultRecorder   = "recorder:default"
	DefaultNormalizer = "normalizer:default"
	// ToolPolicy and the canonical name of a built-in tool name the rule of that tool.
	ToolPolicy = "policy:tool:"
)

// Policies is the point dispatch.policy.
var Policies = contrib.Define(contrib.Spec[Policy]{
	Name: "dispatch.policy", Doc: "May deny a tool call; the first denial ends the stage.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Deny, Deadline: 10 * time.Second,
	Targets: []contrib.Target{
		{Name: DefaultPolicy, Order: 100, Guarding: true, Doc: "Workspace fence and fixed refusals."},
		{Name: ToolPolicy + "*", Order: 200, Guarding: true, Doc: "The rule of one built-in tool that has its own, by canonical name."},
	},
	Guard: guardPolicy,
	StandIn: func(h contrib.Hold) Policy {
		return PolicyFunc(func(context.Context, Call) (Verdict, error) { return guardLost(h), nil })
	},
})

// Approvers is the point dispatch.approval.
var Approvers = contrib.Define(contrib.Spec[Approver]{
	Name: "dispatch.approval", Doc: "Decides whether a tool call may run; the first denial ends the stage.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Deny,
	Targets: []contrib.Target{{Name: DefaultApproval, Order: 100, Guarding: true, Doc: "Modes, grants, reviewer, operator."}},
	Guard:   guardApprover,
	StandIn: func(h contrib.Hold) Approver {
		return ApproverFunc(func(context.Context, Call) (Verdict, error) { return guardLost(h), nil })
	},
})

// Recorders is the point dispatch.recorder.
var Recorders = contrib.Define(contrib.Spec[Recorder]{
	Name: "dispatch.recorder", Doc: "Is told when a tool starts and how it ended.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Targets: []contrib.Target{{Name: DefaultRecorder, Order: 100, Doc: "Call records for clients and traces."}},
	Guard:   guardRecorder,
})

// Normalizers is the point dispatch.normalizer.
var Normalizers = contrib.Define(contrib.Spec[Normalizer]{
	Name: "dispatch.normalizer", Doc: "Turns a tool's result into the one that is used.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Fail, Deadline: 60 * time.Second,
	Targets: []contrib.Target{{Name: DefaultNormalizer, Order: 100, Doc: "Bounds and cleans results."}},
	Guard:   guardNormalizer,
})

// guardLost is the answer of the stand-in of a held target.
func guardLost(h contrib.Hold) Verdict {
	v := Lost(h.PluginID)
	v.Params["target"] = h.Target
	return v
}
