package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
)

// leaking returns a plugin that keeps the lifetimes of its generations, and a function that lets go of them.
func leaking(id string) (p plugins.Plugin, letGo func()) {
	var kept []*generations.Lifetime
	return plugin(id, greet(), fx.Invoke(func(l *generations.Lifetime) { kept = append(kept, l) })), func() { kept = nil }
}

// RUN-9: a generation that leaks shows, and blocks nothing.
func TestGenerationThatLeaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, letGo := leaking("acme.x")
		h := start(t, plugins.Options{}, p)
		g1 := h.status(t, "acme.x").Generation
		h.enable(t, "acme.x", false)
		s := h.inState(t, "acme.x", plugins.Reclaiming)
		assert.Empty(t, s.Blockers)
		assert.Equal(t, 1, s.LeakedGenerations)
		require.Len(t, s.Leaks, 1)
		assert.Equal(t, g1, s.Leaks[0].Generation)
		assert.False(t, s.Leaks[0].RootGone)

		h.enable(t, "acme.x", true)
		s = h.status(t, "acme.x")
		assert.Equal(t, plugins.Active, s.State)
		assert.NotEqual(t, g1, s.Generation)
		assert.Equal(t, 1, s.LeakedGenerations)
		letGo()
		collect()
		h.reached(t, func(snapshot *plugins.Snapshot) bool {
			s, _ := snapshot.Find("acme.x")
			return s.LeakedGenerations == 0
		})
	})
}

// RUN-9: a goroutine that never ends is named with its stack.
func TestGoroutineThatLeaksIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := start(t, plugins.Options{}, plugin("acme.x", fx.Invoke(func() { go stayBehind(release) })))
		h.enable(t, "acme.x", false)
		h.reached(t, func(snapshot *plugins.Snapshot) bool {
			s, _ := snapshot.Find("acme.x")
			return len(s.Leaks) == 1 && s.Leaks[0].RootGone && len(s.Leaks[0].Goroutines) == 1
		})
		goroutines := h.status(t, "acme.x").Leaks[0].Goroutines
		assert.Equal(t, 1, goroutines[0].Count)
		assert.Contains(t, goroutines[0].Stack, "stayBehind")
		close(release)
		h.inState(t, "acme.x", plugins.Stopped)
	})
}

func stayBehind(release chan struct{}) { <-release }

// RUN-10: a shutdown waits for teardowns, and for leaks no longer than the collection timeout.
func TestShutdownDoesNotWaitForLeaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, letGo := leaking("acme.leaking")
		defer letGo()
		h := start(t, plugins.Options{Timeouts: plugins.Timeouts{Collection: 2 * time.Second}},
			p, plugin("acme.conforming", greet(), fx.Invoke(func(life *generations.Lifetime) error {
				return life.OnClose("slow", func(context.Context) error { <-time.After(time.Minute); return nil })
			})))
		begun := time.Now()
		require.NoError(t, h.Shutdown(t.Context()))
		took := time.Since(begun)
		assert.GreaterOrEqual(t, took, time.Minute, "no limit for a teardown")
		assert.LessOrEqual(t, took, time.Minute+2*time.Second)
		assert.Equal(t, plugins.Stopped, h.status(t, "acme.conforming").State)
		assert.Equal(t, plugins.Reclaiming, h.status(t, "acme.leaking").State)
		assert.Len(t, h.status(t, "acme.leaking").Leaks, 1)

		result, err := h.SetEnabled(t.Context(), "acme.conforming", false, plugins.ScopeProcess)
		require.NoError(t, err)
		assert.Equal(t, plugins.NotApplied, result.Outcome)
		assert.Equal(t, []plugins.Code{plugins.PluginOperationIncomplete}, codesOf(result.Diagnostics))
	})
}

func TestAfterAShutdownNothingIsFaultedOrBlocked(t *testing.T) {
	t.Parallel()
	for state, p := range map[plugins.State]plugins.Plugin{
		plugins.Faulted: plugin("acme.x", fx.Invoke(func() error { return errors.New("x") })),
		plugins.Blocked: requires(plugin("acme.x"), "acme.missing"),
	} {
		h := start(t, plugins.Options{}, p)
		require.Equal(t, state, h.status(t, "acme.x").State)
		require.NoError(t, h.Shutdown(t.Context()))
		assert.Equal(t, plugins.Stopped, h.status(t, "acme.x").State)
		assert.Empty(t, h.status(t, "acme.x").Blockers)
	}
}

func TestShutdownOfACallerThatGivesUpGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := start(t, plugins.Options{}, plugin("acme.x", fx.Invoke(func(life *generations.Lifetime) error {
			return life.OnClose("slow", func(context.Context) error { <-release; return nil })
		})))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, h.Shutdown(ctx), context.DeadlineExceeded)
		close(release)
		require.NoError(t, h.Shutdown(t.Context()))
		assert.Equal(t, plugins.Stopped, h.status(t, "acme.x").State)
	})
}

// RUN-11: a hundred cycles of a conforming and of a leaking plugin. FIELD-O3: nothing is delivered twice.
func TestAHundredCycles(t *testing.T) {
	t.Parallel()
	for _, leaks := range []bool{false, true} {
		t.Run(fmt.Sprintf("leaking=%t", leaks), func(t *testing.T) {
			t.Parallel()
			p, letGo := plugin("acme.x", greet()), func() {}
			if leaks {
				p, letGo = leaking("acme.x")
			}
			defer letGo()
			h := start(t, plugins.Options{}, p)
			generation := map[string]bool{}
			var old Greeter
			for cycle := 1; cycle <= 100; cycle++ {
				require.Len(t, h.greeters(), 1)
				s := h.status(t, "acme.x")
				require.Equal(t, plugins.Active, s.State)
				generation[s.Generation] = true
				answer, err := h.greeters()[0].Greet(t.Context())
				require.NoError(t, err)
				require.Equal(t, s.Generation, answer)
				if old != nil {
					_, err = old.Greet(t.Context())
					require.ErrorIs(t, err, contrib.ErrUnavailable)
				}
				old = h.greeters()[0]
				h.enable(t, "acme.x", false)
				require.Empty(t, h.greeters())
				if leaks {
					s := h.status(t, "acme.x")
					require.Equal(t, cycle, s.LeakedGenerations)
					require.Equal(t, cycle >= 3, s.RestartRecommended)
				}
				h.enable(t, "acme.x", true)
			}
			assert.Len(t, generation, 100)
			if !leaks {
				h.enable(t, "acme.x", false)
				assert.Zero(t, h.inState(t, "acme.x", plugins.Stopped).LeakedGenerations)
			}
		})
	}
}

// RUN-12: diagnostics are bounded, with one slot for each code, phase and generation.
func TestDiagnosticsAreBounded(t *testing.T) {
	t.Parallel()
	h := start(t, plugins.Options{}, plugin("acme.x"))
	for g := range 40 {
		for _, text := range []string{"old", "new"} {
			for _, code := range []plugins.Code{plugins.PluginToolContributionInvalid, plugins.PluginContributionInvalid} {
				require.NoError(t, h.Diagnose("acme.x", plugins.Diagnostic{Code: code, Phase: plugins.PhaseActivation, Generation: fmt.Sprint(g), Text: text}))
			}
		}
	}
	h.reached(t, func(snapshot *plugins.Snapshot) bool {
		s, _ := snapshot.Find("acme.x")
		n := len(s.Diagnostics)
		return n == 32 && s.Diagnostics[n-1].Generation == "39" && s.Diagnostics[n-1].Text == "new" && s.Diagnostics[n-1].Code == plugins.PluginContributionInvalid
	})
	for i, d := range h.status(t, "acme.x").Diagnostics {
		assert.Equal(t, "new", d.Text)
		assert.Equal(t, fmt.Sprint(24+i/2), d.Generation)
		assert.Equal(t, "acme.x", d.Plugin)
		assert.False(t, d.Time.IsZero())
	}
	require.ErrorIs(t, h.Diagnose("acme.none", plugins.Diagnostic{}), plugins.ErrUnknownPlugin)
}

// RUN-8: shared values stay open.
func TestSharedValuesStayOpen(t *testing.T) {
	t.Parallel()
	shared := &closingGreeter{"shared", &journal{}}
	var got Greeter
	h := start(t, plugins.Options{Shared: []plugins.Shared{plugins.ShareValue[Greeter](shared)}},
		plugin("acme.x", fx.Invoke(func(g Greeter) { got = g })))
	require.Equal(t, plugins.Active, h.status(t, "acme.x").State)
	assert.Same(t, shared, got)
	h.enable(t, "acme.x", false)
	assert.Empty(t, shared.journal.read())
}
