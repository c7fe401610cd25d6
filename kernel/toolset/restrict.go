package toolset

import (
	"context"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// width orders exposures: a restriction only makes the number greater.
var width = map[tool.Exposure]int{tool.Direct: 1, tool.DirectModelOnly: 2, tool.DeferredTool: 3, tool.Hidden: 4}

// edited is a tool on its way through the restrictions. It is passed by value, so that a failing one changes nothing.
type edited struct {
	tool    Tool
	changed bool
	masked  bool
}

// restrict lets the restrictions edit every tool that they may. When their edits would leave nothing, they count for
// nothing.
func (p *pass) restrict(ctx context.Context, tools []*Tool) ([]*Tool, error) {
	if len(p.in.Restrictions) == 0 {
		return tools, nil
	}
	kept := make([]*Tool, 0, len(tools)+1)
	asked, left := 0, 0
	for _, t := range tools {
		if t.Definition.PolicyScope == tool.ScopeRuntime {
			kept = append(kept, t)
			continue
		}
		asked++
		i := -1
		e, err := contrib.Fold(ctx, p.in.Restrictions, edited{tool: *t}, func(ctx context.Context, _ tool.Restriction, e edited) (edited, error) {
			i++
			return p.step(ctx, &p.in.Restrictions[i], e)
		}, p.in.Report, contrib.Forwards)
		if err != nil {
			return nil, err
		}
		if e.masked {
			continue
		}
		left++
		if e.changed {
			t = &e.tool
		}
		kept = append(kept, t)
	}
	if asked > 0 && left == 0 {
		p.discard(tools)
		return tools, nil
	}
	return kept, nil
}

// step asks one restriction about one tool that is not masked.
func (p *pass) step(ctx context.Context, r *contrib.Entry[tool.Restriction], e edited) (edited, error) {
	if e.masked {
		return e, nil
	}
	before := e.changed
	e.changed = false
	next, err := p.edit(ctx, r.Value, e)
	switch {
	case err != nil:
	case next.masked:
		own := next.tool
		p.trace(Masked, &own, &r.EntryInfo)
	case next.changed:
		own := next.tool
		p.trace(Edited, &own, &r.EntryInfo)
	}
	next.changed = next.changed || before
	return next, err
}

// edit asks one restriction about one tool.
func (p *pass) edit(ctx context.Context, r tool.Restriction, e edited) (edited, error) {
	d := *e.tool.Definition
	edit, err := r.Restrict(ctx, d.Copy(), d.Exposure, p.in.Planning)
	if err != nil || edit == nil {
		return e, err
	}
	if edit.Mask {
		e.masked = true
		return e, nil
	}
	if s := edit.Description; s != nil && strings.TrimSpace(*s) != "" && len(*s) <= maxDescription {
		d.Description, e.changed = *s, true
	}
	if len(edit.InputSchema) > 0 {
		if input, err := p.schemas.Compile(edit.InputSchema); err == nil {
			e.tool.Input, d.InputSchema, e.changed = input, input.JSON(), true
		}
	}
	if w := edit.Exposure; width[w] > width[d.Exposure] && (w != tool.DeferredTool || d.Deferred != nil) {
		d.Exposure, e.changed = w, true
	}
	e.tool.Definition = &d
	return e, nil
}

func (p *pass) discard(tools []*Tool) {
	var names []string
	for _, t := range tools {
		if t.Definition.PolicyScope != tool.ScopeRuntime {
			names = append(names, t.Canonical)
		}
	}
	p.note(contrib.Diagnostic{
		Code: tool.CodeRestrictionsDiscarded, Severity: contrib.Warning, Point: tool.Restrictions.Name(),
		Message: "The restrictions would have left no tool, so none of their edits counts.",
		Params:  map[string]any{"tools": names},
	})
}
