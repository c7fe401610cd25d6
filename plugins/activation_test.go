package plugins_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/plugins"
)

// FIELD-B2: a plugin that cannot start stops no other one.
func TestOneBrokenPluginStopsNoOther(t *testing.T) {
	t.Parallel()
	h := start(t, plugins.Options{},
		plugins.Plugin{ID: "acme.a", Version: "1.0.0", Module: greet()},
		plugins.Plugin{ID: "acme.b", Version: "1.0.0", Module: fx.Invoke(func() error { return errors.New("secret text") })},
		plugins.Plugin{ID: "acme.c", Version: "1.0.0", Module: greet()},
	)
	assert.Equal(t, plugins.Active, h.status(t, "acme.a").State)
	assert.Equal(t, plugins.Active, h.status(t, "acme.c").State)
	b := h.status(t, "acme.b")
	assert.Equal(t, plugins.Faulted, b.State)
	assert.Equal(t, []plugins.Code{plugins.PluginActivationFailed}, codes(b.Blockers))
	assert.Equal(t, "Plugin operation failed.", b.Blockers[0].Text)
	assert.Equal(t, "activation", b.Blockers[0].Params["phase"])
	assert.Empty(t, b.Generation)

	require.Len(t, h.greeters(), 2)
	answer, err := h.greeters()[0].Greet(t.Context())
	require.NoError(t, err)
	assert.Equal(t, h.status(t, "acme.a").Generation, answer)
}
