package kernel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// Hooks and tools of a turn, those of plugins too, get contexts that belong to its thread.
func TestContextsOfATurnBelongToItsThread(t *testing.T) {
	seen := map[string]string{}
	spy := kerneltest.Tools(reading("spy", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
		seen["tool"] = kernel.TurnThread(ctx)
		return tool.Text("ok"), nil
	}))
	guarded := plugin("acme.x", contrib.Supply(hook.UserMessages, hook.UserMessageFunc(
		func(ctx context.Context, _ hook.Scope, _ string) (string, bool, error) {
			seen["plugin"] = kernel.TurnThread(ctx)
			return "", false, nil
		})))
	k := kerneltest.Start(t, spy, kerneltest.Plugins(guarded), kerneltest.Script(
		kerneltest.Step{Calls: []kerneltest.Call{{Name: "spy", Arguments: "{}"}}},
		kerneltest.Step{Text: "ok", Before: func(ctx context.Context, _ *model.Request) error {
			seen["model"] = kernel.TurnThread(ctx)
			return nil
		}},
	))
	k.NewThread(kernel.Options{})
	k.Run("go")
	id := k.Thread().ID()
	assert.Equal(t, map[string]string{"tool": id, "plugin": id, "model": id}, seen)
	assert.Empty(t, kernel.TurnThread(t.Context()))
}

func TestGearStaysWithTheThread(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script())
	th := k.Thread()
	for _, c := range []struct{ set, input, want string }{
		{"", "", ""}, {"low", "", "low"}, {"", "high", "high"}, {"", "", "high"}, {"low", "default", "default"},
	} {
		if c.set != "" {
			th.SetGear(c.set)
		}
		k.RunInput(t.Context(), kernel.Input{Text: "go", Gear: c.input})
		assert.Equal(t, c.want, last(k).Gear)
		_, gear, err := k.SessionModel(t.Context(), th.ID())
		require.NoError(t, err)
		assert.Equal(t, c.want, gear)
	}
}

func TestModelOfASession(t *testing.T) {
	k := kerneltest.Start(t)
	th := k.NewThread(kernel.Options{Model: "offline/rules"})
	r, _, err := k.SessionModel(t.Context(), th.ID())
	require.NoError(t, err)
	assert.Equal(t, "rules", r.Model)
	th.SetModel("offline/other")
	r, _, err = k.SessionModel(t.Context(), th.ID())
	require.NoError(t, err)
	assert.Equal(t, "other", r.Model)
	th.SetModel("nonsense")
	_, _, err = k.SessionModel(t.Context(), th.ID())
	require.ErrorContains(t, err, "nonsense")
	require.NoError(t, th.Close(t.Context()))
	_, _, err = k.SessionModel(t.Context(), th.ID())
	require.ErrorIs(t, err, kernel.ErrThreadClosed)
	_, err = k.TextClient(t.Context(), model.ClientRequest{Protocol: "nosuch"})
	require.ErrorIs(t, err, kernel.ErrNoProtocol)
	_, err = k.ImageClient(t.Context(), model.ClientRequest{Protocol: "nosuch", ImageInput: true})
	require.ErrorIs(t, err, kernel.ErrNoProtocol)
	c, err := k.ImageClient(t.Context(), model.ClientRequest{Protocol: "nosuch"})
	require.NoError(t, err)
	assert.Nil(t, c, "a model that takes no images has no such client")
}
