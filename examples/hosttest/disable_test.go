package hosttest_test

import (
	"context"
	"testing"

	"github.com/crystalkernel/crystal/examples/twoplugins/reviewcore"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
)

// disable is what happens while the turn runs: the operator switches the plugin off.
func disable(t *testing.T, k **kerneltest.Kernel) func(context.Context, *model.Request) error {
	return func(ctx context.Context, _ *model.Request) error {
		t.Helper()
		_, err := (*k).Plugins.SetEnabled(ctx, reviewcore.ID, false, plugins.ScopeProcess)
		return err
	}
}
