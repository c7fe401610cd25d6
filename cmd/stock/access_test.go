package stock_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/cmd/stock"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/status"
)

// A plugin that asks for what the stock host shares is tested in a kernel that shares it too.
func TestAccessServesPluginsOfATest(t *testing.T) {
	p := plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: fx.Options(
		contrib.Supply(status.Fields, status.Field{Name: "build"}),
		fx.Invoke(func(u status.Updates, _ model.Facts, _ model.Clients) { u.Set("build", "green") }),
	)}
	k := kerneltest.Start(t, stock.Access, kerneltest.Plugins(p))
	s, ok := k.Plugins.Snapshot().Find("acme.x")
	require.True(t, ok)
	assert.Equal(t, plugins.Active, s.State)
}
