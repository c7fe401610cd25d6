package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Edit narrows what a model sees of a tool. Fields that are nil or false change nothing.
type Edit struct {
	Mask        bool
	Description *string
	InputSchema json.RawMessage
	Exposure    Exposure // narrows only
}

// Restriction answers for each definition with an edit, or nil for none. It shapes what a model sees and is no protection.
// It is asked about one tool after another in each planning pass, never about tools with [ScopeRuntime]; passes may
// overlap. d is its own, as the restrictions before it left it. An error skips it for that tool.
type Restriction interface {
	Restrict(ctx context.Context, d Definition, e Exposure, p Planning) (*Edit, error)
}

// RestrictionFunc makes a Restriction of a function.
func RestrictionFunc(f func(ctx context.Context, d Definition, e Exposure, p Planning) (*Edit, error)) Restriction {
	return restrictionFunc(f)
}

type restrictionFunc func(ctx context.Context, d Definition, e Exposure, p Planning) (*Edit, error)

func (f restrictionFunc) Restrict(ctx context.Context, d Definition, e Exposure, p Planning) (*Edit, error) {
	return f(ctx, d, e, p)
}

// Restrictions is the point tool.restriction.
var Restrictions = contrib.Define(contrib.Spec[Restriction]{
	Name: "tool.restriction", Doc: "Masks tools or edits what a model sees of them.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.Materialised, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardRestriction,
})
