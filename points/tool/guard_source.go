package tool

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// maxRegistrations is how many registrations of one source are taken. A guard hands on one more, so that the planner can
// tell that there were too many.
const maxRegistrations = 512

// describeSource reads what the registry keeps of a source.
func describeSource(s Source) (any, error) {
	id := strings.Clone(s.SourceID())
	if strings.TrimSpace(id) == "" || len(id) > 128 || strings.ContainsFunc(id, unicode.IsControl) {
		return nil, fmt.Errorf("tool: the source id %.140q has to have 1 to 128 bytes, no control characters, and not be blank", id)
	}
	_, fixed := s.(FixedSource)
	return SourceMeta{ID: id, Fixed: fixed}, nil
}

// sourceGuard stands for the source of a plugin. What it hands out is the host's own: definitions are copies, and in
// place of each binding stands a proxy.
type sourceGuard struct {
	ref      *generations.Ref[Source]
	id       string
	releases bool // the source is a ThreadReleaser
	forks    bool // the source is a ThreadForker
}

var (
	_ Source         = (*sourceGuard)(nil)
	_ ThreadReleaser = (*sourceGuard)(nil)
	_ ThreadForker   = (*sourceGuard)(nil)
)

func guardSource(s Source, meta any, ref contrib.Ref) Source {
	described, _ := meta.(SourceMeta)
	_, releases := s.(ThreadReleaser)
	_, forks := s.(ThreadForker)
	return &sourceGuard{generations.Bind(ref, s), described.ID, releases, forks}
}

// SourceID returns the id that was read at the add.
func (g *sourceGuard) SourceID() string { return g.id }

// Tools asks the source and copies its list to the end, inside the gate.
func (g *sourceGuard) Tools(ctx context.Context, p Planning) ([]Registration, error) {
	return generations.Call(ctx, g.ref, func(ctx context.Context, s Source) ([]Registration, error) {
		list, err := s.Tools(ctx, p)
		if err != nil {
			return nil, err
		}
		return g.own(list[:min(len(list), maxRegistrations+1)], p), nil
	})
}

// own makes the host's registrations.
func (g *sourceGuard) own(list []Registration, p Planning) []Registration {
	o := g.ref.Origin()
	authority := "plugins:" + o.ID() + ":" + o.Generation()
	revision := strconv.FormatUint(p.Revision, 10)
	planning := &p
	proxies := make([]proxy, len(list))
	out := make([]Registration, len(list))
	for i := range list {
		d := list[i].Definition.Copy()
		d.Key = Key{Kind: OwnerPlugin, Owner: o.ID(), ID: d.ID}
		d.PolicyScope, d.FlatName, d.Authority = ScopeProfile, "", authority
		b := &list[i].Binding
		out[i].Definition = d
		out[i].Binding = Binding{Unavailable: b.Unavailable, Timeout: max(b.Timeout, 0), ID: authority + ":" + d.ID + ":" + revision}
		if !isNil(b.Runtime) {
			proxies[i] = proxy{g, d.ID, planning}
			out[i].Binding.Runtime, out[i].Binding.Lease = &proxies[i], &proxies[i]
		}
	}
	return out
}

// isNil reports whether there is no runtime, a nil pointer in an interface included.
func isNil(r Runtime) bool {
	if r == nil {
		return true
	}
	switch v := reflect.ValueOf(r); v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice:
		return v.IsNil()
	}
	return false
}

// ReleaseThread passes the release of a thread on to a source that wants to know.
func (g *sourceGuard) ReleaseThread(ctx context.Context, thread string) error {
	if !g.releases {
		return nil
	}
	return g.ref.Do(ctx, func(ctx context.Context, s Source) error {
		if r, ok := s.(ThreadReleaser); ok {
			return r.ReleaseThread(ctx, thread)
		}
		return nil
	})
}

// ForkThread passes the fork of a thread on to a source that wants to know.
func (g *sourceGuard) ForkThread(ctx context.Context, from, to string) (bool, error) {
	if !g.forks {
		return false, nil
	}
	return generations.Call(ctx, g.ref, func(ctx context.Context, s Source) (bool, error) {
		if f, ok := s.(ThreadForker); ok {
			return f.ForkThread(ctx, from, to)
		}
		return false, nil
	})
}
