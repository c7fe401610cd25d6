package host

import (
	"context"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// Clone returns a copy that shares nothing with e.
func (e Environment) Clone() Environment {
	out := Environment{
		Plugins: slices.Clone(e.Plugins), ToolSets: slices.Clone(e.ToolSets),
		ExternalTools: slices.Clone(e.ExternalTools), Skills: slices.Clone(e.Skills),
	}
	for i, p := range out.Plugins {
		out.Plugins[i].Enabled = cloneBool(p.Enabled)
	}
	for i, s := range out.ToolSets {
		out.ToolSets[i].Enabled = cloneBool(s.Enabled)
	}
	return out
}

func cloneBool(b *bool) *bool {
	if b == nil {
		return nil
	}
	own := *b
	return &own
}

type attachedGuard struct {
	ref *generations.Ref[Attached]
}

func guardAttached(a Attached, _ any, ref contrib.Ref) Attached {
	return &attachedGuard{ref: generations.Bind(ref, a)}
}

func (g *attachedGuard) Attached(ctx context.Context, e Environment) error {
	own := e.Clone()
	return g.ref.Do(ctx, func(ctx context.Context, a Attached) error { return a.Attached(ctx, own) })
}
