package hosttest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/examples/twoplugins/reviewcore"
	"github.com/crystalkernel/crystal/examples/twoplugins/reviewui"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
)

func TestReviewToolRunsAndItsCommandFollows(t *testing.T) {
	k := kerneltest.Start(t,
		kerneltest.Script(
			kerneltest.Step{Calls: []kerneltest.Call{{Name: "review__add", Arguments: `{"text":"x"}`}}},
			kerneltest.Step{Text: "queued it"},
		),
		kerneltest.Plugins(reviewcore.Plugin, reviewui.Plugin),
		// Every module of the host can be exchanged: here, what the kernel is set up with.
		fx.Decorate(func(c kernel.Config) kernel.Config {
			c.Limits.ModelCalls = 2
			return c
		}),
	)

	turn := k.Run("please queue x")

	require.Equal(t, kernel.Completed, turn.Result.Stop)
	require.Equal(t, "queued it", turn.Result.Text)
	calls := turn.Calls()
	require.Len(t, calls, 1)
	require.Equal(t, "review__add", calls[0].Name)
	require.Equal(t, model.Success, calls[0].Status)
	require.Len(t, k.Model.Requests(), 2)

	text, ok, err := k.Expand(t.Context(), k.Thread(), "/triage")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "Sort these reviews by urgency: x", text)
}

func TestToolOfADisabledPluginIsUnavailableInARunningTurn(t *testing.T) {
	var k *kerneltest.Kernel
	k = kerneltest.Start(t,
		kerneltest.Script(
			kerneltest.Step{Calls: []kerneltest.Call{{Name: "review__add", Arguments: `{"text":"x"}`}}},
			kerneltest.Step{
				Before: disable(t, &k),
				Calls:  []kerneltest.Call{{Name: "review__add", Arguments: `{"text":"y"}`}},
			},
			kerneltest.Step{Text: "done"},
		),
		kerneltest.Plugins(reviewcore.Plugin),
	)

	turn := k.Run("go")

	require.Equal(t, kernel.Completed, turn.Result.Stop)
	calls := turn.Calls()
	require.Len(t, calls, 2)
	require.Equal(t, model.Success, calls[0].Status)
	require.Equal(t, "tool_unavailable", calls[1].Code)
	// Its memory may still be on its way back, which is what reclaiming says.
	require.Contains(t, []plugins.State{plugins.Stopped, plugins.Reclaiming}, k.Plugins.Snapshot().Plugins[0].State)
}
