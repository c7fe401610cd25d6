package subagent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// Meta is what the registry keeps of a source.
type Meta struct {
	Type     string
	Profiles []Profile
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

func describe(s Source) (any, error) {
	rt := s.Runtime()
	if rt == nil {
		return nil, errors.New("the source has no runtime")
	}
	m := Meta{Type: rt.Type(), Profiles: slices.Clone(s.Profiles())}
	if !namePattern.MatchString(m.Type) {
		return nil, fmt.Errorf("the runtime type %.80q is not a lower-case letter followed by letters, digits, _ or -", m.Type)
	}
	for i, p := range m.Profiles {
		if !namePattern.MatchString(p.Name) {
			return nil, fmt.Errorf("the profile name %.80q is not a lower-case letter followed by letters, digits, _ or -", p.Name)
		}
		m.Profiles[i].Runtime = m.Type
		m.Profiles[i].Tools = slices.Clone(p.Tools)
	}
	return m, nil
}

type sourceGuard struct {
	meta Meta
	ref  *generations.Ref[Source]
	raw  contrib.Ref
}

func guard(s Source, meta any, ref contrib.Ref) Source {
	return &sourceGuard{meta: meta.(Meta), ref: generations.Bind(ref, s), raw: ref}
}

func (g *sourceGuard) Runtime() Runtime    { return (*runtimeGuard)(g) }
func (g *sourceGuard) Profiles() []Profile { return slices.Clone(g.meta.Profiles) }

type runtimeGuard sourceGuard

func (g *runtimeGuard) Type() string { return g.meta.Type }

func (g *runtimeGuard) Create(ctx context.Context, s Spec) (Session, error) {
	s.Profile.Tools = slices.Clone(s.Profile.Tools)
	return generations.Call(ctx, g.ref, func(ctx context.Context, src Source) (Session, error) {
		rt := src.Runtime()
		if rt == nil {
			return nil, errors.New("the source has no runtime any more")
		}
		v, err := rt.Create(ctx, s)
		if err != nil || v == nil {
			return nil, err
		}
		// The session stays with the generation: what leaves is a token behind the gate.
		return &sessionGuard{ref: generations.Bind(g.raw, v)}, nil
	})
}

type sessionGuard struct {
	ref *generations.Ref[Session]
}

func (g *sessionGuard) Run(ctx context.Context, in Input, emit func(Event) error) (*Outcome, error) {
	return generations.CallWithin(ctx, g.ref, 0, func(ctx context.Context, s Session) (*Outcome, error) {
		out, err := s.Run(ctx, in, emit)
		if err != nil || out == nil {
			return nil, err
		}
		own := *out
		return &own, nil
	})
}

func (g *sessionGuard) Cancel(ctx context.Context) error {
	return g.ref.Do(ctx, func(ctx context.Context, s Session) error { return s.Cancel(ctx) })
}

func (g *sessionGuard) Close(ctx context.Context) error {
	return g.ref.Do(ctx, func(ctx context.Context, s Session) error { return s.Close(ctx) })
}
