package approval

import (
	"context"
	"errors"

	"github.com/crystalkernel/crystal/points/dispatch"
)

// ErrNoEvidence is returned by a Reviewer that has nothing to judge by: no user message and no summary.
var ErrNoEvidence = errors.New("approval: no evidence to review")

// Reviewer judges a call in place of the operator in the modes review and audit.
//
// Calls may overlap. ctx ends after 60 s. An error of any kind, [ErrNoEvidence] included, sends the call on to the
// operator.
type Reviewer interface {
	Review(ctx context.Context, c dispatch.Call) (Review, error)
}

// ReviewerFunc adapts a function to Reviewer.
type ReviewerFunc func(ctx context.Context, c dispatch.Call) (Review, error)

// Review calls f.
func (f ReviewerFunc) Review(ctx context.Context, c dispatch.Call) (Review, error) { return f(ctx, c) }

// Review is a reviewer's answer. The zero value asks the operator.
type Review struct {
	Outcome       Outcome
	RiskLevel     string // recorded
	Authorization string // recorded
	Rationale     string // shown on denial
}

// Outcome is what a reviewer decided.
type Outcome uint8

// The outcomes.
const (
	ReviewAsk   Outcome = iota // the operator is to decide
	ReviewAllow                // run it, unless a prompt is required
	ReviewDeny                 // refuse it
)
