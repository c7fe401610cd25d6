package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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

// proxy stands for one binding of a plugin. It holds no object of the plugin: at each call the source is asked again
// with the planning input of the turn, and the registration with the tool id is used for that call alone.
type proxy struct {
	source   *sourceGuard
	id       string
	planning *Planning
}

// Check says whether the source can be asked. The plugin's own lease is checked when the tool is invoked.
func (p *proxy) Check(context.Context) error {
	if !p.source.ref.Live() {
		return contrib.ErrUnavailable
	}
	return nil
}

// Invoke resolves the tool again and runs it.
func (p *proxy) Invoke(ctx context.Context, in Invocation) (Result, error) {
	c := &crossing{proxy: p, in: in}
	// The dispatcher has given the call a goroutine of its own and counts its time.
	r, err := generations.CallHere(ctx, p.source.ref, c.run)
	switch {
	case ctx.Err() != nil && err != nil:
		return Result{}, err
	case c.reason != "" && !errors.Is(err, contrib.ErrRevoked):
		return Result{}, &UnservedError{c.reason}
	case c.overdue:
		return Result{}, context.DeadlineExceeded
	}
	return r, err
}

// crossing is one call on its way into the plugin and back.
type crossing struct {
	proxy   *proxy
	in      Invocation
	reason  string // of a call that can't be served; while it is set, no tool has run
	overdue bool   // the tool gave up because of a deadline
}

// run is plugin code from here on: it runs inside the gate.
func (c *crossing) run(ctx context.Context, s Source) (Result, error) {
	c.reason = ReasonPlanningFailed
	list, err := s.Tools(ctx, *c.proxy.planning)
	if err != nil {
		return Result{}, err
	}
	b := bindingOf(list, c.proxy.id)
	if b == nil {
		return Result{}, nil
	}
	if b.Lease != nil {
		c.reason = ReasonLease
		if err := b.Lease.Check(ctx); err != nil {
			return Result{}, err
		}
	}
	c.reason = ""
	in := c.in
	in.Arguments = bytes.Clone(in.Arguments)
	in.Approved = in.Approved.Copy()
	if call := in.Call; call != nil {
		in.Call = func(ctx context.Context, name string, arguments json.RawMessage) (Result, error) {
			r, err := call(ctx, name, bytes.Clone(arguments))
			r = r.Copy()
			r.Meta = nil
			return r, err
		}
	}
	r, err := b.Runtime.Invoke(ctx, in)
	if err != nil {
		c.overdue = errors.Is(err, context.DeadlineExceeded)
		return Result{}, err
	}
	return TakeOver(r), nil
}

func bindingOf(list []Registration, id string) *Binding {
	for i := range list[:min(len(list), maxRegistrations)] {
		if list[i].Definition.ID == id && !isNil(list[i].Binding.Runtime) {
			return &list[i].Binding
		}
	}
	return nil
}

// TakeOver makes the host's copy of a result that a plugin returned: text, image bytes and JSON, and nothing else. What
// only the host says about a result is dropped. Parameters that are no JSON give way to some that are none either, so
// that whoever checks the result finds out. It is called inside the gate: writing parameters as JSON may run plugin code.
func TakeOver(r Result) Result {
	params := map[string]any(nil)
	if r.Error != nil {
		params = r.Error.Params
		e := *r.Error
		e.Params = nil
		r.Error = &e
	}
	r.Meta, r.Spill, r.Executed, r.Coercions = nil, "", false, nil
	r = r.Copy()
	if params != nil {
		plain, ok := PlainParams(params)
		if !ok {
			plain = map[string]any{"notJson": math.NaN()}
		}
		r.Error.Params = plain
	}
	return r
}

// PlainParams returns the JSON values that params stand for; ok is false when they stand for none.
func PlainParams(params map[string]any) (plain map[string]any, ok bool) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, false
	}
	return plain, json.Unmarshal(text, &plain) == nil
}

// guardRestriction gives copies and takes the edit over field by field.
func guardRestriction(r Restriction, _ any, ref contrib.Ref) Restriction {
	own := generations.Bind(ref, r)
	return RestrictionFunc(func(ctx context.Context, d Definition, e Exposure, p Planning) (*Edit, error) {
		d = d.Copy()
		return generations.Call(ctx, own, func(ctx context.Context, r Restriction) (*Edit, error) {
			edit, err := r.Restrict(ctx, d, e, p)
			if err != nil || edit == nil {
				return nil, err
			}
			out := &Edit{Mask: edit.Mask, InputSchema: bytes.Clone(edit.InputSchema), Exposure: edit.Exposure}
			if edit.Description != nil {
				text := strings.Clone(*edit.Description)
				out.Description = &text
			}
			return out, nil
		})
	})
}

// judged is an answer of a classifier.
type judged struct {
	classification Classification
	ok             bool
}

// guardClassifier gives copies, and refuses a risk or an authority that does not exist.
func guardClassifier(c Classifier, _ any, ref contrib.Ref) Classifier {
	own := generations.Bind(ref, c)
	return ClassifierFunc(func(ctx context.Context, call Call, workspace string) (Classification, bool, error) {
		call.Arguments = bytes.Clone(call.Arguments)
		out, err := generations.Call(ctx, own, func(ctx context.Context, c Classifier) (judged, error) {
			k, ok, err := c.Classify(ctx, call, workspace)
			if err != nil || !ok {
				return judged{}, err
			}
			if !k.Risk.Valid() || !k.Authority.Valid() {
				return judged{}, own.Refuse("an unknown risk or authority")
			}
			plain := Classification{Risk: k.Risk, Authority: k.Authority, Summary: strings.Clone(k.Summary), RequirePrompt: k.RequirePrompt}
			return judged{plain, true}, nil
		})
		return out.classification, out.ok, err
	})
}
