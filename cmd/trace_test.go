package crystalcmd_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crystalcmd "github.com/crystalkernel/crystal/cmd"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/trace"
)

// The kernel stops before the plugins, so that a sink which takes its time has the whole turn.
func TestSinksOfPluginsGetTheEndOfTheTurn(t *testing.T) {
	var types []string // by the one goroutine that serves the sink, which has ended when the host has stopped
	slow := trace.SinkFunc("slow", func(ctx context.Context, e trace.Event) error {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
		types = append(types, e.Type)
		return nil
	})
	p := plugins.Plugin{ID: "acme.slow", Version: "1.0.0", Module: contrib.Supply(trace.Sinks, slow)}
	at := newPlace(t)
	o := crystalcmd.Run(t.Context(), []plugins.Plugin{p}, strings.NewReader(""), map[string]string{"CRYSTAL_HOME": at.home}, "-C", at.ws, "run", "list")
	require.Equal(t, 0, o.Exit, o.Stderr)
	require.NotEmpty(t, types)
	assert.Equal(t, "turn_ended", types[len(types)-1])
}
