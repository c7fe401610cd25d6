package house_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/internal/statusline"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/status"
	"github.com/crystalkernel/crystal/points/tool"
)

// catalog are the names of all points.
func catalog() []string {
	var names []string
	for _, p := range points.Catalog() {
		names = append(names, p.Name())
	}
	return names
}

// probe is a plugin with one contribution to every point. fired counts their calls.
type probe struct {
	mu    sync.Mutex
	fired map[string]int
}

func (p *probe) plugin() plugins.Plugin {
	p.fired = map[string]int{}
	var opts []fx.Option
	for _, s := range subjects() {
		opts = append(opts, s.add(func(context.Context) (bool, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.fired[s.point.Name()]++
			return false, nil
		}))
	}
	return plugins.Plugin{ID: "acme.probe", Version: "1.0.0", Module: fx.Options(opts...)}
}

// A new point without a subject here, or without a call site, fails this test.
func TestEveryPointIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &probe{}
		w := &tour{}
		w.start(t, p.plugin())
		w.run()
		assert.Empty(t, w.failed)
		assert.Empty(t, w.codes)
		if line := w.line.Line([]string{"probe"}, nil); assert.Equal(t, []statusline.Cell{{Name: "probe", Text: "green"}}, line.Cells) {
			p.fired[status.Fields.Name()]++
		}
		for _, name := range catalog() {
			assert.Positive(t, p.fired[name], "%s was not reached", name)
		}
		require.ElementsMatch(t, catalog(), slices.Collect(maps.Keys(p.fired)))
	})
}

// The same plugin, switched off before, fires nowhere, and the host goes its way without it.
func TestAPluginThatIsOffFiresNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &probe{}
		w := &tour{}
		w.start(t, p.plugin())
		_, err := w.k.Plugins.SetEnabled(t.Context(), "acme.probe", false, plugins.ScopeProcess)
		require.NoError(t, err)
		w.run()
		assert.Empty(t, p.fired)
		assert.Equal(t, []string{"command", "action", "turn of another protocol"}, slices.Compact(w.failed), "what it alone offered")
		assert.Equal(t, map[string]string{"probed": tool.CodeNotFound, "task": tool.CodeInputInvalid}, w.codes)
		assert.Empty(t, w.line.Line([]string{"probe"}, nil).Cells)
	})
}
