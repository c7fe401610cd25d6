package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// TransformModel is the contract of hook.transform_model.
//
// TransformModel returns the items of the request, changed as far as an ordinary hook may, or nil to keep them.
// Calls may overlap; the hook owns its arguments, which are copies.
type TransformModel interface {
	TransformModel(ctx context.Context, r Request) ([]Item, error)
}

// TransformModelFunc makes a TransformModel of a function.
func TransformModelFunc(f func(ctx context.Context, r Request) ([]Item, error)) TransformModel {
	return transformModelFunc(f)
}

type transformModelFunc func(ctx context.Context, r Request) ([]Item, error)

func (f transformModelFunc) TransformModel(ctx context.Context, r Request) ([]Item, error) {
	return f(ctx, r)
}

// TransformModels is the point hook.transform_model.
var TransformModels = contrib.Define(contrib.Spec[TransformModel]{
	Name: "hook.transform_model", Doc: "Changes texts and drops image references of a model request.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 60 * time.Second,
	Guard: guardTransformModel,
})
