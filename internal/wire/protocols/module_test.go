package protocols_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/offline"
	"github.com/crystalkernel/crystal/internal/wire/anthropic"
	"github.com/crystalkernel/crystal/internal/wire/gemini"
	"github.com/crystalkernel/crystal/internal/wire/ollama"
	"github.com/crystalkernel/crystal/internal/wire/openai"
	"github.com/crystalkernel/crystal/internal/wire/protocols"
	"github.com/crystalkernel/crystal/internal/wire/responses"
	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/points/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func view(t *testing.T, opts ...fx.Option) *contrib.View {
	t.Helper()
	registry, err := contrib.New(model.Protocols, model.Middlewares)
	require.NoError(t, err)
	t.Cleanup(registry.Close)
	app := fx.New(fx.NopLogger, fx.Supply(registry, registry.Builtin()), fx.Options(opts...))
	require.NoError(t, app.Err())
	return registry.View()
}

func TestEachBuiltinProtocolHasOneFactory(t *testing.T) { // PROTO-12
	for name, modules := range map[string][]fx.Option{
		"together":   {protocols.Module, offline.Module},
		"one by one": {openai.Module, responses.Module, anthropic.Module, gemini.Module, ollama.Module, offline.Module},
	} {
		factories := model.Protocols.In(view(t, modules...), "")
		for _, token := range model.BuiltinProtocols {
			able := 0
			for _, f := range factories {
				if !f.CanCreate(token) {
					continue
				}
				able++
				r := model.ClientRequest{Protocol: token, Provider: "p", Model: "rules", Key: "k"}
				c, err := f.Create(t.Context(), r)
				require.NoError(t, err)
				assert.NotNil(t, c)
				c, err = f.CreateMultimodal(t.Context(), r)
				require.NoError(t, err)
				assert.NotNil(t, c)
			}
			assert.Equal(t, 1, able, "%s: %s", name, token)
		}
		for _, f := range factories {
			assert.False(t, f.CanCreate("acme"))
		}
	}
}

func TestRetryIsContributedUnderItsTarget(t *testing.T) {
	entries := model.Middlewares.Entries(view(t, retry.Module, fx.Supply(retry.Settings{Attempts: 1})), "")
	require.Len(t, entries, 1)
	assert.Equal(t, model.Retry, entries[0].Name)
	assert.Equal(t, 300, entries[0].Order)
	assert.Equal(t, model.Retry, entries[0].Value.Name())
}
