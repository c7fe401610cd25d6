package rawhook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
)

// RebuildModel is the contract of rawhook.rebuild_model.
//
// RebuildModel returns another list of items, or nil to keep them. Items with an id of the request are those
// items, rewritten; others are new. Calls may overlap; the hook owns its arguments, which are copies.
type RebuildModel interface {
	RebuildModel(ctx context.Context, r hook.Request) ([]hook.Item, error)
}

// RebuildModelFunc makes a RebuildModel of a function.
func RebuildModelFunc(f func(ctx context.Context, r hook.Request) ([]hook.Item, error)) RebuildModel {
	return rebuildModelFunc(f)
}

type rebuildModelFunc func(ctx context.Context, r hook.Request) ([]hook.Item, error)

func (f rebuildModelFunc) RebuildModel(ctx context.Context, r hook.Request) ([]hook.Item, error) {
	return f(ctx, r)
}

// RebuildModels is the point rawhook.rebuild_model.
var RebuildModels = contrib.Define(contrib.Spec[RebuildModel]{
	Name: "rawhook.rebuild_model", Doc: "Rebuilds the items of a model request.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 60 * time.Second,
	Guard: guardRebuildModel,
})
