package dispatch

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/tool"
)

// Copy returns a copy that shares nothing with c.
func (c Call) Copy() Call {
	if c.Definition != nil {
		d := c.Definition.Copy()
		c.Definition = &d
	}
	c.Arguments = bytes.Clone(c.Arguments)
	c.Classification = c.Classification.Copy()
	return c
}

// patience is the deadline of an approver that has none. It waits for people, but it runs on a goroutine of its own, so
// that the end of the turn is the end of the wait whether or not it listens.
const patience = 365 * 24 * time.Hour

func guardPolicy(p Policy, _ any, ref contrib.Ref) Policy {
	r := generations.Bind(ref, p)
	return PolicyFunc(func(ctx context.Context, c Call) (Verdict, error) {
		c = c.Copy()
		v, err := generations.Call(ctx, r, func(ctx context.Context, p Policy) (Verdict, error) {
			v, err := p.Evaluate(ctx, c)
			return plain(v), err
		})
		return present(r.Origin(), v, err)
	})
}

func guardApprover(a Approver, _ any, ref contrib.Ref) Approver {
	r := generations.Bind(ref, a)
	deadline := r.Deadline()
	if deadline <= 0 {
		deadline = patience
	}
	return ApproverFunc(func(ctx context.Context, c Call) (Verdict, error) {
		c = c.Copy()
		v, err := generations.CallWithin(ctx, r, deadline, func(ctx context.Context, a Approver) (Verdict, error) {
			v, err := a.Approve(ctx, c)
			return plain(v), err
		})
		return present(r.Origin(), v, err)
	})
}

// present denies for a stage that is gone: what guards a call fails closed.
func present(o contrib.Origin, v Verdict, err error) (Verdict, error) {
	if errors.Is(err, contrib.ErrRevoked) {
		return Lost(o.ID()), nil
	}
	return v, err
}

// plain is the host's copy of a plugin's verdict. A code that no result may have gives way to the default of the stage,
// and who decided is said by the host.
func plain(v Verdict) Verdict {
	out := Verdict{
		Allow: v.Allow, Message: strings.Clone(v.Message), Rationale: strings.Clone(v.Rationale), By: "stage",
	}
	if tool.ValidCode(v.Code) {
		out.Code = strings.Clone(v.Code)
	}
	if v.Params != nil {
		if params, ok := tool.PlainParams(v.Params); ok {
			out.Params = params
		}
	}
	return out
}

// recorderGuard gives copies.
type recorderGuard struct {
	ref *generations.Ref[Recorder]
}

func guardRecorder(r Recorder, _ any, ref contrib.Ref) Recorder {
	return &recorderGuard{generations.Bind(ref, r)}
}

// Started passes a start on.
func (g *recorderGuard) Started(ctx context.Context, c Call) error {
	c = c.Copy()
	return g.ref.Do(ctx, func(ctx context.Context, r Recorder) error { return r.Started(ctx, c) })
}

// Ended passes an end on.
func (g *recorderGuard) Ended(ctx context.Context, c Call, res tool.Result, d time.Duration) error {
	c, res = c.Copy(), res.Copy()
	res.Meta = nil
	return g.ref.Do(ctx, func(ctx context.Context, r Recorder) error { return r.Ended(ctx, c, res, d) })
}

// guardNormalizer copies the result both ways. What only the host says about a result stays as it was.
func guardNormalizer(n Normalizer, _ any, ref contrib.Ref) Normalizer {
	r := generations.Bind(ref, n)
	return NormalizerFunc(func(ctx context.Context, c Call, res tool.Result) (*tool.Result, error) {
		c = c.Copy()
		given := res.Copy()
		given.Meta = nil
		out, err := generations.Call(ctx, r, func(ctx context.Context, n Normalizer) (*tool.Result, error) {
			next, err := n.Normalize(ctx, c, given)
			if err != nil || next == nil {
				return nil, err
			}
			own := tool.TakeOver(*next)
			return &own, nil
		})
		if errors.Is(err, contrib.ErrRevoked) {
			return nil, nil
		}
		if err != nil || out == nil {
			return nil, err
		}
		out.Meta, out.Spill, out.Executed, out.Coercions = res.Meta, res.Spill, res.Executed, res.Coercions
		return out, nil
	})
}
