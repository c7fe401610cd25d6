package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/model"
)

type sourceGuard struct {
	ref *generations.Ref[Source]
}

func guardSource(s Source, _ any, ref contrib.Ref) Source {
	return &sourceGuard{ref: generations.Bind(ref, s)}
}

func (g *sourceGuard) Provider(ctx context.Context, r Request) (Provider, error) {
	r.Prompt.Tools = slices.Clone(r.Prompt.Tools)
	r.Prompt.DeferredNamespaces = slices.Clone(r.Prompt.DeferredNamespaces)
	r.Prompt.SubagentProfiles = slices.Clone(r.Prompt.SubagentProfiles)
	p, err := generations.Call(ctx, g.ref, func(ctx context.Context, s Source) (Provider, error) {
		p, err := s.Provider(ctx, r)
		if p == nil || err != nil {
			return nil, err
		}
		// The provider stays with the generation: the host keeps a reference behind the gate.
		return &providerGuard{ref: generations.BindBeside(g.ref, p)}, nil
	})
	if errors.Is(err, contrib.ErrRevoked) {
		return nil, nil
	}
	return p, err
}

type providerGuard struct {
	ref *generations.Ref[Provider]
}

func (g *providerGuard) Transform(ctx context.Context, c Context) (*Context, error) {
	given := Context{Instructions: c.Instructions, Messages: copyItems(c.Messages), Tools: slices.Clone(c.Tools)}
	out, err := generations.Call(ctx, g.ref, func(ctx context.Context, p Provider) (*Context, error) {
		return p.Transform(ctx, given)
	})
	switch {
	case errors.Is(err, contrib.ErrRevoked):
		return nil, nil
	case err != nil || out == nil:
		return nil, err
	case !sameItems(out.Messages, c.Messages):
		return nil, g.ref.Refuse("messages may not be changed")
	case !slices.Equal(out.Tools, c.Tools):
		return nil, g.ref.Refuse("tool names may not be changed")
	}
	return &Context{Instructions: out.Instructions, Messages: c.Messages, Tools: c.Tools}, nil
}

func copyItems(items []*model.Item) []*model.Item {
	out := make([]*model.Item, len(items))
	for i, it := range items {
		own := *it
		own.Images = slices.Clone(it.Images)
		own.Segments = slices.Clone(it.Segments)
		own.State = nil
		out[i] = &own
	}
	return out
}

// sameItems compares what a provider was given with what it returned, field by field, since it holds copies.
func sameItems(got, want []*model.Item) bool {
	if len(got) != len(want) {
		return false
	}
	for i, g := range got {
		w := want[i]
		if g == nil || g.ID != w.ID || g.Kind != w.Kind || g.Role != w.Role || g.Text != w.Text || g.CallID != w.CallID ||
			g.Name != w.Name || g.Arguments != w.Arguments || g.Status != w.Status || !slices.Equal(g.Segments, w.Segments) {
			return false
		}
	}
	return true
}
