package dispatcher

import (
	"bytes"
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

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
				Code: CodeApprovalLoweringIgnored, Severity: contrib.Info, Point: hook.Approvals.Name(),
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
