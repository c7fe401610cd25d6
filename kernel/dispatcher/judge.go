package dispatcher

import (
	"bytes"
	"context"
	"errors"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

// byStage is who decided when a stage of a plugin or a module did.
const byStage = "stage"

// classify judges the call. It never refuses.
func (p *Prepared) classify(ctx context.Context) {
	d := p.tool.Definition
	k, ok := tool.Classification{}, false
	switch {
	case p.tool.Binding.Classify != nil:
		k, ok = p.fixedRule(ctx)
	case d.Key.Kind == tool.OwnerPlugin || d.Key.Kind == tool.OwnerModule:
		k, ok = p.classifier(ctx)
		k.RequirePrompt = k.RequirePrompt || ok && d.Hints != nil && d.Hints.RequiresApproval
	}
	if !ok {
		k = byHints(d)
	}
	p.judged(k)
}

func (p *Prepared) judged(k tool.Classification) {
	p.call.Classification, p.stage.Classification = k, k
}

func (p *Prepared) toolCall() tool.Call {
	return tool.Call{
		ID: p.request.ID, ParentID: p.request.ParentID, Tool: p.tool.Canonical, Arguments: p.stage.Arguments, Thread: p.turn.Thread,
	}
}

func (p *Prepared) fixedRule(ctx context.Context) (k tool.Classification, ok bool) {
	err := p.d.protect(func() error {
		k = p.tool.Binding.Classify(ctx, p.toolCall(), p.turn.Workspace)
		return nil
	})
	if err != nil || !k.Risk.Valid() || !k.Authority.Valid() {
		return unknownTool(), true
	}
	return k, true
}

// classifier asks the point tool.classifier.
func (p *Prepared) classifier(ctx context.Context) (tool.Classification, bool) {
	entries := tool.Classifiers.Entries(p.d.registry.View(), contrib.ThreadID(p.turn.Thread))
	if len(entries) == 0 {
		return tool.Classification{}, false
	}
	ask := func(ctx context.Context, c tool.Classifier, e *contrib.EntryInfo) (tool.Classification, bool, error) {
		call := p.toolCall()
		call.Arguments = bytes.Clone(call.Arguments)
		k, ok, err := c.Classify(ctx, call, p.turn.Workspace)
		if err == nil && ok && !(k.Risk.Valid() && k.Authority.Valid()) {
			return k, false, refusal(e, "an unknown risk or authority")
		}
		// What only a fixed rule of the host may say is dropped.
		return tool.Classification{Risk: k.Risk, Authority: k.Authority, Summary: k.Summary, RequirePrompt: k.RequirePrompt}, ok, err
	}
	k, ok, err := first(ctx, entries, ask, p.turn.report())
	return k, ok && err == nil
}

// byHints judges by what the tool says about itself.
func byHints(d *tool.Definition) tool.Classification {
	if d.Hints == nil {
		return unknownTool()
	}
	k := tool.Classification{Risk: tool.Write, Authority: tool.Workspace, Summary: "calls " + d.Canonical(), RequirePrompt: d.Hints.RequiresApproval}
	switch {
	case d.Hints.Destructive:
		k.Risk = tool.Privileged
	case d.Hints.ReadOnly:
		k.Risk = tool.Read
	}
	if d.Hints.OpenWorld {
		k.Authority = tool.Network
	}
	return k
}

func unknownTool() tool.Classification {
	return tool.Classification{Risk: tool.Privileged, Authority: tool.PrivilegedEscalation, Summary: "unknown tool"}
}

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

// advice lets the hooks change the classification: ordinary ones raise it, raw ones replace it.
func (p *Prepared) advice(ctx context.Context) {
	view, thread := p.d.registry.View(), contrib.ThreadID(p.turn.Thread)
	k := p.call.Classification
	if entries := hook.Approvals.Entries(view, thread); len(entries) > 0 {
		k, _ = fold(ctx, entries, k, p.advise, p.turn.report())
	}
	if entries := rawhook.RewriteApprovals.Entries(view, thread); len(entries) > 0 {
		k, _ = fold(ctx, entries, k, p.reclassify, p.turn.report())
	}
	p.judged(k)
}

func (p *Prepared) advise(ctx context.Context, h hook.Approval, k tool.Classification, e *contrib.EntryInfo) (tool.Classification, error) {
	a, err := h.Approval(ctx, p.hookCall(), k.Copy())
	if err != nil || a == nil {
		return k, err
	}
	if a.Risk != nil {
		switch risk := *a.Risk; {
		case !risk.Valid():
			return k, refusal(e, "an unknown risk")
		case risk > k.Risk:
			k.Risk = risk
		case risk < k.Risk:
			p.turn.note(contrib.Diagnostic{
				Code: "ApprovalLoweringIgnored", Severity: contrib.Info, Point: hook.Approvals.Name(),
				Message: "Advice below the risk of a call was ignored.",
				Params:  map[string]any{"callId": p.request.ID, "risk": k.Risk.String(), "advice": risk.String()},
			})
		}
	}
	k.RequirePrompt = k.RequirePrompt || a.RequirePrompt
	return k, nil
}

func (p *Prepared) reclassify(ctx context.Context, h rawhook.RewriteApproval, k tool.Classification, e *contrib.EntryInfo) (tool.Classification, error) {
	n, err := h.RewriteApproval(ctx, p.hookCall(), k.Copy())
	if err != nil || n == nil {
		return k, err
	}
	if !n.Risk.Valid() || !n.Authority.Valid() {
		return k, refusal(e, "an unknown risk or authority")
	}
	k.Risk, k.Authority, k.Summary, k.RequirePrompt = n.Risk, n.Authority, n.Summary, n.RequirePrompt
	return k, nil
}

// hookCall is the effective call as a hook sees it: a copy.
func (p *Prepared) hookCall() hook.Call {
	return hook.Call{
		Scope: p.turn.scope(), ID: p.request.ID, ParentID: p.request.ParentID, Tool: p.call.Effective.Name,
		Arguments: bytes.Clone(p.stage.Arguments),
	}
}
