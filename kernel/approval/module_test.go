package approval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestModuleContributesStageAndPolicy(t *testing.T) {
	op := answers(approval.Once)
	for _, tt := range []struct {
		options fx.Option
		by      string
	}{
		{fx.Options(), "no_operator"},
		{fx.Supply(fx.Annotate(op, fx.As(new(approval.Operator))), approval.Config{Home: t.TempDir()}), "operator"},
	} {
		registry, err := contrib.New(dispatch.Approvers, dispatch.Policies)
		require.NoError(t, err)
		var stage *approval.Stage
		app := fxtest.New(t, fx.NopLogger, fx.Supply(registry.Builtin()), approval.Module, tt.options, fx.Populate(&stage))
		app.RequireStart()
		approvers := dispatch.Approvers.Entries(registry.View(), "")
		require.Len(t, approvers, 1)
		assert.Equal(t, dispatch.DefaultApproval, approvers[0].Name)
		assert.Same(t, stage, approvers[0].Value)
		policies := dispatch.Policies.Entries(registry.View(), "")
		require.Len(t, policies, 1)
		assert.Equal(t, dispatch.DefaultPolicy, policies[0].Name)
		v, err := approvers[0].Value.Approve(context.Background(), bashCall("default", "x", class(tool.Write, tool.Workspace)))
		require.NoError(t, err)
		assert.Equal(t, tt.by, v.By)
		app.RequireStop()
		registry.Close()
	}
}
