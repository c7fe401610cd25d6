package dispatcher

import (
	"context"
	"errors"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// byStage is who decided when a stage of a plugin or a module did.
const byStage = "stage"

// policy asks every policy; the first denial ends it.
func (p *Prepared) policy(ctx context.Context) {
	entries := dispatch.Policies.Entries(p.d.registry.View(), contrib.ThreadID(p.turn.Thread))
	for i := range entries {
		e := &entries[i]
		v, err := ask(ctx, p.d, e, p.stage, dispatch.Policy.Evaluate)
		if p.decided(ctx, &e.EntryInfo, v, err, policyTexts) {
			return
		}
	}
}

// approval asks every approver; the first denial ends it. Without approvers only what reads may run.
func (p *Prepared) approval(ctx context.Context) {
	entries := dispatch.Approvers.Entries(p.d.registry.View(), contrib.ThreadID(p.turn.Thread))
	if k := &p.call.Classification; len(entries) == 0 && (k.RequirePrompt || k.Risk > tool.Read) {
		p.call.Verdict = dispatch.Verdict{By: byStage}
		p.deny(failed(tool.CodeApprovalRejected, "Nobody could be asked for approval.", map[string]any{"by": byStage}))
		return
	}
	for i := range entries {
		e := &entries[i]
		v, err := ask(ctx, p.d, e, p.stage, dispatch.Approver.Approve)
		if p.decided(ctx, &e.EntryInfo, v, err, approvalTexts) {
			return
		}
		// Who decided is told by the stage that knows: several may have allowed.
		if p.call.Verdict.By == "" || p.call.Verdict.By == byStage {
			p.call.Verdict = v
		}
	}
}

// ask asks one policy or approver.
func ask[T any](ctx context.Context, d *Dispatcher, e *contrib.Entry[T], c dispatch.Call,

	ask func(T, context.Context, dispatch.Call) (dispatch.Verdict, error),
) (v dispatch.Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = dispatch.Verdict{}, &contrib.CallError{Cause: contrib.CausePanic, Point: e.Point, Label: e.Label, Origin: e.Origin}
			_ = d.panicked(r)
		}
	}()
	return ask(e.Value, ctx, c)
}

// texts are what a stage says when it stops a call.
type texts struct {
	denied, denial string // code and message of a denial that has none
	failed, fault  string
}

var (
	policyTexts   = texts{tool.CodeUnauthorized, "A policy refused the call.", tool.CodePolicyFailed, "A policy failed, so the call was refused."}
	approvalTexts = texts{tool.CodeApprovalRejected, "The call was rejected.", tool.CodeApprovalFailed, "Approval could not be decided, so the call was refused."}
)

// decided reports whether the answer of one entry ends the call, and then ends it.
func (p *Prepared) decided(ctx context.Context, e *contrib.EntryInfo, v dispatch.Verdict, err error, t texts) bool {
	switch {
	case ctx.Err() != nil:
		p.refuse(cancelled())
		return true
	case err == nil && v.Allow:
		return false
	case errors.Is(err, contrib.ErrRevoked):
		v = dispatch.Lost(e.Origin.ID())
	case err != nil:
		p.d.logger.Warn("a stage of dispatch failed, so its call was denied",
			"code", t.failed, "origin", e.Origin.String(), "call", p.request.ID, "error", err)
		cause := contrib.CauseError
		var c *contrib.CallError
		if errors.As(err, &c) && c.Cause != "" {
			cause = c.Cause
		}
		p.call.Verdict = dispatch.Verdict{By: byStage}
		p.deny(failed(t.failed, t.fault, map[string]any{"origin": e.Origin.String(), "cause": string(cause)}))
		return true
	}
	if v.By == "" {
		v.By = byStage
	}
	p.call.Verdict = v
	r := denial(v, t.denied, t.denial)
	if r.Error.Code == tool.CodeApprovalRejected {
		r.Error.Params = with(r.Error.Params, "by", v.By)
	}
	p.deny(r)
	return true
}

// denial is the result of a denial. A code that no result may have gives way to the stage's own.
func denial(v dispatch.Verdict, code, message string) tool.Result {
	if tool.ValidCode(v.Code) {
		code = v.Code
	}
	if notBlank(v.Message) {
		message = v.Message
	}
	return failed(code, message, v.Params)
}

// with returns the parameters with one more; they may belong to somebody else.
func with(params map[string]any, key string, value any) map[string]any {
	out := make(map[string]any, len(params)+1)
	for k, v := range params {
		out[k] = v
	}
	if _, there := out[key]; !there {
		out[key] = value
	}
	return out
}
