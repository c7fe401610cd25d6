package dispatcher

import (
	"bytes"
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

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
		k = byHints(p.tool)
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
func byHints(t *toolset.Tool) tool.Classification {
	d := t.Definition
	if d.Hints == nil {
		return unknownTool()
	}
	k := tool.Classification{Risk: tool.Write, Authority: tool.Workspace, Summary: t.Summary, RequirePrompt: d.Hints.RequiresApproval}
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
