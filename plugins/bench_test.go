package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins"
)

func many(n int) plugins.Plugin {
	options := []fx.Option{fx.Provide(func() *journal { return &journal{} })}
	for i := range n {
		options = append(options, contrib.Provide(greeters, func(*journal) Greeter {
			return greeterFunc(func(context.Context) (string, error) { return fmt.Sprint(i), nil })
		}, contrib.Order(i)))
	}
	return plugin("acme.many", options...)
}

// BenchmarkActivate activates and deactivates one plugin, whose contributions each have a constructor.
func BenchmarkActivate(b *testing.B) {
	for _, n := range []int{1, 5, 20} {
		b.Run(fmt.Sprintf("contributions=%d", n), func(b *testing.B) {
			h := start(b, plugins.Options{Switches: map[string]bool{"acme.many": false}}, many(n))
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				_, err := h.SetEnabled(ctx, "acme.many", true, plugins.ScopeProcess)
				if err != nil || len(h.greeters()) != n {
					b.Fatal("not active", err)
				}
				_, _ = h.SetEnabled(ctx, "acme.many", false, plugins.ScopeProcess)
			}
		})
	}
}

// BenchmarkActivateSet does the same for contributions that one constructor returns together.
func BenchmarkActivateSet(b *testing.B) {
	h := start(b, plugins.Options{Switches: map[string]bool{"acme.many": false}}, plugin("acme.many", contrib.ProvideSet(func() contrib.Set {
		var set contrib.Set
		for i := range 20 {
			set = append(set, contrib.Item(greeters, Greeter(greeterFunc(nopGreet)), contrib.Order(i)))
		}
		return set
	})))
	for b.Loop() {
		_, err := h.SetEnabled(b.Context(), "acme.many", true, plugins.ScopeProcess)
		if err != nil || len(h.greeters()) != 20 {
			b.Fatal("not active", err)
		}
		_, _ = h.SetEnabled(b.Context(), "acme.many", false, plugins.ScopeProcess)
	}
}

func nopGreet(context.Context) (string, error) { return "", nil }

// swapped calls the contribution of a plugin from many goroutines while the plugin is switched off and on, quiesced and
// reconciled. It reports calls, swaps and the longest call.
func swapped(tb testing.TB, h *host, callers, swaps int) (calls, refused int64, longest time.Duration) {
	var answered, unavailable, slowest atomic.Int64
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				list := h.greeters()
				if len(list) == 0 {
					unavailable.Add(1)
					runtime.Gosched()
					continue
				}
				entries := greeters.Entries(h.registry.View(), "")
				guard, want := list[0], ""
				if len(entries) == 1 {
					guard, want = entries[0].Value, entries[0].Origin.Generation()
				}
				begun := time.Now()
				answer, err := guard.Greet(context.Background())
				took := int64(time.Since(begun))
				for old := slowest.Load(); took > old && !slowest.CompareAndSwap(old, took); old = slowest.Load() {
				}
				switch {
				case errors.Is(err, contrib.ErrUnavailable):
					unavailable.Add(1)
				case err != nil:
					tb.Errorf("a call failed: %v", err)
				case want != "" && answer != want:
					tb.Errorf("a call into %s was answered by %s", want, answer)
				default:
					answered.Add(1)
				}
			}
		})
	}
	for swap := range swaps {
		var err error
		if swap%3 == 0 {
			_, err = h.Quiesce(tb.Context(), "acme.x")
			require.NoError(tb, err)
			_, err = h.Reconcile(tb.Context(), "acme.x")
		} else {
			_, err = h.SetEnabled(tb.Context(), "acme.x", false, plugins.ScopeProcess)
			require.NoError(tb, err)
			_, err = h.SetEnabled(tb.Context(), "acme.x", true, plugins.ScopeProcess)
		}
		require.NoError(tb, err)
	}
	close(stop)
	group.Wait()
	return answered.Load(), unavailable.Load(), time.Duration(slowest.Load())
}

// watched contributes a greeter that reports calls which run when its generation has been torn down.
func watched(late *atomic.Int64) fx.Option {
	return contrib.Provide(greeters, func(f plugins.Facts) Greeter { return &watchedGreeter{id: f.Generation, late: late} }, contrib.Owned())
}

type watchedGreeter struct {
	id     string
	closed atomic.Bool
	late   *atomic.Int64
}

func (g *watchedGreeter) Greet(context.Context) (string, error) {
	if g.closed.Load() {
		g.late.Add(1)
	}
	defer func() {
		if g.closed.Load() {
			g.late.Add(1)
		}
	}()
	return g.id, nil
}

func (g *watchedGreeter) Close() error {
	g.closed.Store(true)
	return nil
}

// Under load every call completes, with the answer of its own generation or unavailable; none runs in a generation that
// has been drained.
func TestHotSwapUnderLoad(t *testing.T) {
	t.Parallel()
	var late atomic.Int64
	h := start(t, plugins.Options{}, plugin("acme.x", watched(&late)))
	calls, refused, _ := swapped(t, h, 4, 1000)
	require.Positive(t, calls)
	require.Zero(t, late.Load())
	t.Logf("%d calls were answered, %d found it unavailable", calls, refused)
}

// BenchmarkHotSwap reports what the load of TestHotSwapUnderLoad costs.
func BenchmarkHotSwap(b *testing.B) {
	var late atomic.Int64
	h := start(b, plugins.Options{}, plugin("acme.x", watched(&late)))
	begun := time.Now()
	var calls int64
	var longest time.Duration
	swaps := 0
	for b.Loop() {
		n, _, slowest := swapped(b, h, 4, 100)
		calls, longest, swaps = calls+n, max(longest, slowest), swaps+100
	}
	seconds := time.Since(begun).Seconds()
	b.ReportMetric(float64(calls)/seconds, "calls/s")
	b.ReportMetric(float64(swaps)/seconds, "swaps/s")
	b.ReportMetric(float64(longest.Microseconds()), "longest-µs")
	b.ReportMetric(0, "ns/op")
	if late.Load() > 0 {
		b.Fatal("calls ran in a generation that was drained")
	}
}
