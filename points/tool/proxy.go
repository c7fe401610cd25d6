package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

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
