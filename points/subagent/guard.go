package subagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/tool"
)

// Meta is what the registry keeps of a source.
type Meta struct {
	Type     string
	Profiles []Profile
}

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
		if err := p.Check(); err != nil {
			return nil, err
		}
		m.Profiles[i].Runtime = m.Type
		m.Profiles[i].Tools = slices.Clone(p.Tools)
	}
	return m, nil
}

type sourceGuard struct {
	meta Meta
	ref  *generations.Ref[Source]
}

func guard(s Source, meta any, ref contrib.Ref) Source {
	return &sourceGuard{meta: meta.(Meta), ref: generations.Bind(ref, s)}
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
		if _, token := v.(*sessionGuard); token {
			return nil, g.ref.Refuse("the session of another runtime")
		}
		// The session stays with the generation: what leaves is a token behind the gate.
		session := &sessionGuard{ref: generations.BindBeside(g.ref, v)}
		session.closeOnce, err = g.ref.Materialised(func() error {
			ctx, cancel := context.WithTimeout(context.Background(), closeTime)
			defer cancel()
			return v.Close(ctx)
		})
		if err != nil {
			return nil, errors.Join(err, v.Close(ctx))
		}
		return session, nil
	})
}

// closeTime bounds the end of a session.
const closeTime = 10 * time.Second

// sessionGuard stands for a session of a plugin. The generation closes it when it stops, if nobody has until then.
type sessionGuard struct {
	ref       *generations.Ref[Session]
	closeOnce func() error
}

func (g *sessionGuard) Run(ctx context.Context, in Input, emit func(Event) error) (*Outcome, error) {
	var over atomic.Bool
	defer over.Store(true)
	call := in.Call
	in.Call = func(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
		switch {
		case over.Load() || call == nil:
			return tool.Result{}, tool.ErrEnded
		case !g.ref.Live():
			return gone(), nil
		}
		r, err := call(ctx, name, bytes.Clone(arguments))
		if err == nil && !g.ref.Live() {
			return gone(), nil
		}
		r = r.Copy()
		r.Meta = nil
		return r, err
	}
	shown := func(e Event) error {
		if over.Load() {
			return tool.ErrEnded
		}
		e.Text = cut(e.Text)
		return emit(e)
	}
	out, err := generations.CallWithin(ctx, g.ref, 0, func(ctx context.Context, s Session) (*Outcome, error) {
		out, err := s.Run(ctx, in, shown)
		if err != nil || out == nil {
			return nil, err
		}
		return &Outcome{Text: strings.Clone(out.Text), Failed: out.Failed}, nil
	})
	if err == nil && !g.ref.Live() {
		return nil, contrib.ErrUnavailable
	}
	return out, err
}

// gone is the result of a call of a session whose entry was revoked.
func gone() tool.Result {
	r := tool.Failed(tool.CodeUnavailable, "The subagent's plugin was switched off.")
	r.Error.Params = map[string]any{"reason": tool.ReasonRevoked}
	return r
}

// cut cuts a text at a character.
func cut(s string) string {
	if len(s) <= MaxEvent {
		return strings.Clone(s)
	}
	n := MaxEvent
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n])
}

func (g *sessionGuard) Cancel(ctx context.Context) error {
	return g.ref.Do(ctx, func(ctx context.Context, s Session) error { return s.Cancel(ctx) })
}

func (g *sessionGuard) Close(context.Context) error {
	g.ref.Release()
	return g.closeOnce()
}
