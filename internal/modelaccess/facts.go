package modelaccess

import (
	"context"

	"github.com/crystalkernel/crystal/points/model"
)

// Facts returns the facts for plugins.
func (a *Access) Facts() model.Facts { return facts{a.describe, a.describeReview} }

// facts is what plugins get. It holds functions alone: whatever a plugin does to print it shows nothing of the host.
type facts struct {
	session func(context.Context) model.Description
	review  func() model.ReviewFacts
}

// Session implements model.Facts.
func (f facts) Session(ctx context.Context) model.Description { return f.session(ctx) }

// Review implements model.Facts.
func (f facts) Review() model.ReviewFacts { return f.review() }

func (a *Access) describe(ctx context.Context) model.Description {
	_, r, gear, err := a.session(ctx)
	if err != nil {
		return model.Description{}
	}
	return r.Describe(gear)
}

func (a *Access) describeReview() model.ReviewFacts {
	r, err := a.review()
	if err != nil || r == nil {
		return model.ReviewFacts{}
	}
	return model.ReviewFacts{Independent: true, Model: r.Request.Describe(r.Gear)}
}
