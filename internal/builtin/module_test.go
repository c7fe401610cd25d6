package builtin_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestModuleContributesTheSource(t *testing.T) {
	for _, options := range [][]fx.Option{nil, {fx.Supply(builtin.Config{BashTimeout: time.Second})}} {
		registry, err := contrib.New(tool.Sources)
		require.NoError(t, err)
		app := fxtest.New(t, fx.NopLogger, fx.Supply(registry.Builtin()), builtin.Module, fx.Options(options...))
		app.RequireStart()
		entries := tool.Sources.Entries(registry.View(), "")
		require.Len(t, entries, 1)
		assert.Equal(t, tool.SourceBuiltin, entries[0].Name)
		assert.Equal(t, 100, entries[0].Order)
		tools, err := entries[0].Value.Tools(context.Background(), tool.Planning{})
		require.NoError(t, err)
		assert.NotEmpty(t, tools)
		app.RequireStop()
		registry.Close()
	}
}
