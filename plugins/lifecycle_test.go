package plugins_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
)

func plugin(id string, options ...fx.Option) plugins.Plugin {
	return plugins.Plugin{ID: id, Version: "1.0.0", Module: fx.Options(options...)}
}

func requires(p plugins.Plugin, ids ...string) plugins.Plugin {
	p.Requires = deps.Requirements{}
	for _, id := range ids {
		p.Requires[id] = "1.0.0"
	}
	return p
}

func codesOf(diagnostics []plugins.Diagnostic) []plugins.Code {
	var out []plugins.Code
	for _, d := range diagnostics {
		out = append(out, d.Code)
	}
	return out
}

// RUN-1: an activation that does not end.
func TestActivationThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var j journal
		first := true
		h := start(t, plugins.Options{Timeouts: plugins.Timeouts{Activation: time.Second}}, plugin("acme.slow",
			contrib.Provide(greeters, func(f plugins.Facts) Greeter {
				if first {
					first = false
					<-release
				}
				return &closingGreeter{f.Generation, &j}
			}, contrib.Owned())))
		s := h.status(t, "acme.slow")
		assert.Equal(t, plugins.Faulted, s.State)
		assert.Equal(t, []plugins.Code{plugins.PluginActivationTimeout}, codes(s.Blockers))
		g1 := s.Generation
		require.NotEmpty(t, g1)
		assert.Equal(t, g1, s.Blockers[0].Params["generationId"])
		assert.Empty(t, h.greeters())

		assert.Equal(t, plugins.Applied, h.enable(t, "acme.slow", true).Outcome)
		assert.Equal(t, g1, h.status(t, "acme.slow").Generation)
		result, err := h.Reconcile(t.Context(), "acme.slow")
		require.NoError(t, err)
		assert.Equal(t, plugins.NotApplied, result.Outcome)
		assert.Equal(t, []plugins.Code{plugins.PluginOperationIncomplete}, codesOf(result.Diagnostics))

		close(release)
		g2 := h.inState(t, "acme.slow", plugins.Active).Generation
		assert.NotEqual(t, g1, g2)
		require.Len(t, h.greeters(), 1)
		assert.Equal(t, []string{"closed " + g1}, j.read())
	})
}

// closingGreeter writes down that it was closed.
type closingGreeter struct {
	generation string
	journal    *journal
}

func (g *closingGreeter) Greet(context.Context) (string, error) { return g.generation, nil }

func (g *closingGreeter) Close() error {
	g.journal.write("closed " + g.generation)
	return nil
}

// FIELD-B22: a plugin whose activation never ends holds up the others no longer than its deadline.
func TestPluginThatWaitsForItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		h := start(t, plugins.Options{Timeouts: plugins.Timeouts{Activation: time.Second}},
			plugin("acme.stuck", fx.Invoke(func(life *generations.Lifetime) { <-life.Context().Done() })),
			plugin("acme.good", greet()))
		assert.Equal(t, time.Second, time.Since(begun))
		assert.Equal(t, plugins.Faulted, h.status(t, "acme.stuck").State)
		assert.Equal(t, []plugins.Code{plugins.PluginActivationTimeout}, codes(h.status(t, "acme.stuck").Blockers))
		assert.Equal(t, plugins.Active, h.status(t, "acme.good").State)
	})
}

// RUN-2: a consumer that will not stop keeps its provider serving.
func TestConsumerThatWillNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var j journal
		once := true
		h := start(t, plugins.Options{Timeouts: plugins.Timeouts{Cleanup: 50 * time.Millisecond}},
			plugin("acme.p1", greet(), fx.Invoke(func(life *generations.Lifetime) error {
				return life.OnClose("p1", func(context.Context) error { j.write("p1 closed"); return nil })
			})),
			requires(plugin("acme.c1", fx.Invoke(func(life *generations.Lifetime) error {
				stubborn := once
				once = false
				return errors.Join(
					life.OnClose("c1", func(context.Context) error { j.write("c1 closed"); return nil }),
					life.Go("work", func(ctx context.Context) error {
						<-ctx.Done()
						if stubborn {
							<-release
						}
						return nil
					}))
			})), "acme.p1"))
		p1, c1 := h.status(t, "acme.p1").Generation, h.status(t, "acme.c1").Generation

		result := h.enable(t, "acme.p1", false)
		assert.Equal(t, plugins.Applied, result.Outcome)
		assert.Equal(t, []string{"acme.c1", "acme.p1"}, result.Affected)
		assert.Equal(t, []plugins.Code{plugins.PluginDrainTimeout}, codesOf(result.Diagnostics))
		assert.Equal(t, plugins.Deactivating, h.status(t, "acme.c1").State)
		assert.Equal(t, plugins.Active, h.status(t, "acme.p1").State)
		assert.Equal(t, p1, h.status(t, "acme.p1").Generation)
		answer, err := h.greeters()[0].Greet(t.Context())
		require.NoError(t, err)
		assert.Equal(t, p1, answer)
		assert.Empty(t, j.read())

		h.enable(t, "acme.p1", true)
		assert.Equal(t, p1, h.status(t, "acme.p1").Generation, "no second generation")

		close(release)
		h.reached(t, func(s *plugins.Snapshot) bool {
			p, _ := s.Find("acme.p1")
			c, _ := s.Find("acme.c1")
			return p.State == plugins.Active && p.Generation != p1 && c.State == plugins.Active && c.Generation != c1
		})
		assert.Equal(t, []string{"c1 closed", "p1 closed"}, j.read())
	})
}

// RUN-3: a caller that gives up cancels only its wait for its turn.
func TestCallerThatGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold, holding := make(chan struct{}), make(chan struct{}, 1)
		h := start(t, plugins.Options{Switches: map[string]bool{"acme.x": false}}, plugin("acme.x",
			fx.Invoke(func(life *generations.Lifetime) error {
				holding <- struct{}{}
				<-hold
				return life.OnClose("slow", func(context.Context) error { holding <- struct{}{}; <-hold; return nil })
			})))

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := h.SetEnabled(ctx, "acme.x", true, plugins.ScopeProcess); done <- err }()
		<-holding
		cancel() // during the activation

		waiting, giveUp := context.WithCancel(t.Context())
		waited := make(chan error, 1)
		go func() {
			_, err := h.SetEnabled(waiting, "acme.x", false, plugins.ScopeProcess)
			waited <- err
		}()
		synctest.Wait()
		giveUp()
		require.ErrorIs(t, <-waited, context.Canceled)

		hold <- struct{}{}
		require.NoError(t, <-done)
		assert.Equal(t, plugins.Active, h.status(t, "acme.x").State)
		assert.True(t, h.status(t, "acme.x").Enabled, "what was given up changed nothing")

		ctx, cancel = context.WithCancel(t.Context())
		go func() { _, err := h.SetEnabled(ctx, "acme.x", false, plugins.ScopeProcess); done <- err }()
		<-holding
		cancel() // during the teardown
		hold <- struct{}{}
		require.NoError(t, <-done)
		h.inState(t, "acme.x", plugins.Stopped)
	})
}

// RUN-4: a drain that is too slow.
func TestDrainThatIsTooSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inside, leave := make(chan struct{}), make(chan struct{})
		h := start(t, plugins.Options{Timeouts: plugins.Timeouts{Cleanup: 50 * time.Millisecond}}, plugin("acme.x",
			contrib.Supply(greeters, Greeter(greeterFunc(func(context.Context) (string, error) {
				close(inside)
				<-leave
				return "late", nil
			})))))
		answered := make(chan error, 1)
		guard := h.greeters()[0]
		go func() { _, err := guard.Greet(context.Background()); answered <- err }()
		<-inside
		g1 := h.status(t, "acme.x").Generation
		result := h.enable(t, "acme.x", false)
		assert.Equal(t, plugins.Applied, result.Outcome)
		require.Equal(t, []plugins.Code{plugins.PluginDrainTimeout}, codesOf(result.Diagnostics))
		assert.Equal(t, plugins.PhaseDrain, result.Diagnostics[0].Phase)
		s := h.status(t, "acme.x")
		assert.Equal(t, plugins.Deactivating, s.State)
		assert.Equal(t, g1, s.Generation)
		close(leave)
		require.NoError(t, <-answered)
		s = h.inState(t, "acme.x", plugins.Stopped)
		assert.Empty(t, s.Generation)
		assert.Equal(t, []plugins.Code{plugins.PluginDrainTimeout}, codesOf(s.Diagnostics))
	})
}

// RUN-6, FIELD-B5: background work fails, by an error and by a panic.
func TestBackgroundWorkThatFails(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func() error{
		"error":               func() error { return errors.New("secret") },
		"panic":               func() error { panic("secret") },
		"cancelled too early": func() error { return context.Canceled },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var j journal
				end := func(name string) fx.Option {
					return fx.Invoke(func(life *generations.Lifetime) error {
						return life.OnClose(name, func(context.Context) error { j.write(name); return nil })
					})
				}
				h := start(t, plugins.Options{},
					plugin("acme.p1", end("p1"), greet(), fx.Invoke(func(life *generations.Lifetime) error {
						return life.Go("pump", func(context.Context) error {
							<-time.After(100 * time.Millisecond)
							return work()
						})
					})),
					requires(plugin("acme.c1", end("c1")), "acme.p1"))
				events := make(chan plugins.Event, 100)
				defer h.Subscribe("test", func(e plugins.Event) { events <- e })()
				guard := h.greeters()[0]

				p := h.inState(t, "acme.p1", plugins.Faulted)
				c := h.inState(t, "acme.c1", plugins.Blocked)
				assert.Equal(t, []string{"c1", "p1"}, j.read())
				require.Equal(t, []plugins.Code{plugins.PluginActivationFailed}, codes(p.Blockers))
				assert.Equal(t, plugins.PhaseBackgroundWork, p.Blockers[0].Phase)
				assert.Empty(t, p.Generation)
				require.Equal(t, []plugins.Code{plugins.PluginDependencyUnsatisfied}, codes(c.Blockers))
				assert.Equal(t, "faulted", c.Blockers[0].Params["reason"])
				_, err := guard.Greet(t.Context())
				require.ErrorIs(t, err, contrib.ErrUnavailable)

				synctest.Wait()
				changed := map[string]bool{}
				for len(events) > 0 {
					for _, id := range (<-events).Changed {
						changed[id] = true
					}
				}
				assert.Equal(t, map[string]bool{"acme.p1": true, "acme.c1": true}, changed)

				// An unrelated replan does not try it again; enabling it does.
				h.enable(t, "acme.c1", false)
				assert.Equal(t, plugins.Faulted, h.status(t, "acme.p1").State)
				h.enable(t, "acme.c1", true)
				assert.Equal(t, plugins.Faulted, h.status(t, "acme.p1").State)
				assert.Equal(t, plugins.Applied, h.enable(t, "acme.p1", true).Outcome)
				assert.Equal(t, plugins.Active, h.status(t, "acme.p1").State)
				assert.Equal(t, plugins.Active, h.status(t, "acme.c1").State)
			})
		})
	}
}

// Calling the shutdowner of its own app is a failure of the plugin's work.
func TestShutdownerOfAGenerationFaultsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := start(t, plugins.Options{}, plugin("acme.x", fx.Invoke(func(s fx.Shutdowner) error { return s.Shutdown() })))
		s := h.inState(t, "acme.x", plugins.Faulted)
		assert.Equal(t, plugins.PhaseBackgroundWork, s.Blockers[0].Phase)
	})
}
