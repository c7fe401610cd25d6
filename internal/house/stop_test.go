package house

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/trace"
)

type shared struct{}

// An app that stops ends the sessions of its kernel before its plugins, in whatever order they are made: a sink which
// takes its time has the end of the turn.
func TestPluginsHearTheEndOfWhatTheyListenTo(t *testing.T) {
	var types []string // by the one goroutine that serves the sink, which has ended when the app has stopped
	slow := plugins.Plugin{ID: "acme.slow", Version: "1.0.0", Module: contrib.Supply(trace.Sinks, trace.SinkFunc("slow",
		func(ctx context.Context, e trace.Event) error {
			pause := time.NewTimer(5 * time.Millisecond)
			defer pause.Stop()
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			types = append(types, e.Type)
			return nil
		}))}
	// The runtime is made before the kernel, or, as it shares something that is the kernel's, after it.
	for name, more := range map[string]fx.Option{
		"runtime first": fx.Options(),
		"kernel first":  fx.Options(fx.Provide(func(*kernel.Kernel) *shared { return &shared{} }), plugins.Share[*shared]()),
	} {
		types = nil
		t.Run(name, func(t *testing.T) {
			k := kerneltest.Start(t, more, kerneltest.Plugins(slow), kerneltest.Script(kerneltest.Step{Text: "ok"}))
			require.Equal(t, kernel.Completed, k.Run("hi").Result.Stop)
		})
		require.NotEmpty(t, types, name)
		assert.Equal(t, "turn_ended", types[len(types)-1], name)
	}
}
