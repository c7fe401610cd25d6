package plugins_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
)

// RUN-13: a plugin without contributions.
func TestPluginWithoutContributions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		h := start(t, plugins.Options{}, plugin("acme.x", fx.Invoke(func(life *generations.Lifetime) error {
			return life.Go("work", func(ctx context.Context) error { <-ctx.Done(); ended <- context.Cause(ctx); return nil })
		})))
		s := h.status(t, "acme.x")
		assert.Equal(t, plugins.Active, s.State)
		assert.Empty(t, s.Tools)
		assert.Zero(t, h.registry.View().Version())
		h.enable(t, "acme.x", false)
		require.ErrorIs(t, <-ended, generations.ErrStopping)
		h.inState(t, "acme.x", plugins.Stopped)
		assert.Zero(t, h.registry.View().Version())
	})
}

// RUN-14: a guarding target whose winner failed stays closed until the operator decides.
func TestGuardingTargetWhoseWinnerFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fail := make(chan struct{})
		h := prepare(t, plugins.Options{}, plugin("acme.x",
			contrib.Supply(policies, Greeter(greeterFunc(func(context.Context) (string, error) { return "plugin", nil })),
				contrib.ReplaceTarget("policy:default")),
			fx.Invoke(func(life *generations.Lifetime) error {
				return life.Go("work", func(ctx context.Context) error {
					select {
					case <-fail:
						return errors.New("broken")
					case <-ctx.Done():
						return nil
					}
				})
			})))
		_, err := policies.Add(h.registry.Builtin(), greeterFunc(func(context.Context) (string, error) { return "default", nil }),
			contrib.Named("policy:default"))
		require.NoError(t, err)
		seen := map[string]bool{}
		ask := func() string {
			list := policies.In(h.registry.View(), "")
			require.Len(t, list, 1)
			answer, err := list[0].Greet(t.Context())
			if errors.Is(err, errGuardLost) {
				return "held"
			}
			require.NoError(t, err)
			return answer
		}
		require.NoError(t, h.Start(t.Context()))
		assert.Equal(t, "plugin", ask())
		defer h.registry.Subscribe("test", func(contrib.Event) { seen[ask()] = true })()

		fail <- struct{}{}
		s := h.inState(t, "acme.x", plugins.Faulted)
		assert.Equal(t, "held", ask())
		assert.NotContains(t, seen, "default", "in no view the default serves in between")
		assert.Equal(t, []plugins.HeldTarget{{Point: "test.policy", Target: "policy:default"}}, s.Held)
		h.enable(t, "acme.x", false)
		assert.Equal(t, "default", ask())
		assert.Empty(t, h.status(t, "acme.x").Held)

		// Disabled while healthy: the default serves at once.
		h.enable(t, "acme.x", true)
		assert.Equal(t, "plugin", ask())
		clear(seen)
		h.enable(t, "acme.x", false)
		assert.Equal(t, "default", ask())
		assert.NotContains(t, seen, "held")
	})
}

// FIELD-O2: disabled means not run.
func TestDisabledMeansNotRun(t *testing.T) {
	t.Parallel()
	ran := false
	dir := t.TempDir()
	h := start(t, plugins.Options{
		Inputs: func(context.Context) (plugins.Inputs, error) {
			return plugins.Inputs{Disabled: []string{"acme.x"}}, nil
		},
		DataDirs: func(name string) plugins.Directories { return plugins.Directories{Home: dir + "/" + name} },
	}, plugin("acme.x", fx.Invoke(func() { ran = true })))
	assert.False(t, ran)
	assert.NoDirExists(t, dir+"/acme.x")
	s := h.status(t, "acme.x")
	assert.Equal(t, plugins.Stopped, s.State)
	assert.Empty(t, s.Blockers)
	assert.Empty(t, s.Diagnostics)
	h.enable(t, "acme.x", true)
	assert.True(t, ran)
	assert.DirExists(t, dir+"/acme.x")
}

// FIELD-O4: what is left of an old generation gets errors.
func TestStaleHandlesGiveErrors(t *testing.T) {
	t.Parallel()
	var registrars []*contrib.Registrar
	var lifetimes []*generations.Lifetime
	h := start(t, plugins.Options{}, plugin("acme.x", greet(), fx.Invoke(func(r *contrib.Registrar, l *generations.Lifetime) {
		registrars, lifetimes = append(registrars, r), append(lifetimes, l)
	})))
	h.enable(t, "acme.x", false)
	h.enable(t, "acme.x", true)
	_, err := greeters.Add(registrars[0], greeterFunc(nil))
	require.ErrorIs(t, err, contrib.ErrClosed)
	require.ErrorIs(t, lifetimes[0].Go("late", func(context.Context) error { return nil }), generations.ErrStopping)
	require.Len(t, h.greeters(), 1)
	answer, err := h.greeters()[0].Greet(t.Context())
	require.NoError(t, err)
	assert.Equal(t, h.status(t, "acme.x").Generation, answer)
	clear(registrars)
	clear(lifetimes)
}

// DEP-1, FIELD-O12: a typed service, and consumers that stop before their provider.
func TestTypedServiceBetweenPlugins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		end := func(life *generations.Lifetime, name string) error {
			return life.OnClose(name, func(context.Context) error { j.write(name); return nil })
		}
		var provided *store
		var got Store
		var imports *export.Imports
		h := start(t, plugins.Options{},
			requires(plugin("acme.app", export.Import[Store]("acme.store"),
				fx.Invoke(func(s Store, i *export.Imports, life *generations.Lifetime) error {
					got, imports = s, i
					return end(life, "app")
				})), "acme.store"),
			plugin("acme.store", export.Provide[Store](func(life *generations.Lifetime) (*store, error) {
				provided = &store{"text"}
				return provided, end(life, "store")
			})))
		assert.Same(t, provided, got)
		_, err := export.From[Store](imports, "acme.store")
		require.ErrorIs(t, err, export.ErrSealed)
		assert.Equal(t, "text", got.Read())
		g1 := h.status(t, "acme.app").Generation

		h.enable(t, "acme.store", false)
		assert.Equal(t, []string{"app", "store"}, j.read())
		imports, got, provided = nil, nil, nil
		s := h.inState(t, "acme.app", plugins.Blocked)
		require.Equal(t, []plugins.Code{plugins.PluginDependencyUnsatisfied}, codes(s.Blockers))
		assert.Equal(t, "disabled", s.Blockers[0].Params["reason"])
		h.enable(t, "acme.store", true)
		assert.Equal(t, plugins.Active, h.status(t, "acme.store").State)
		assert.Equal(t, plugins.Active, h.status(t, "acme.app").State)
		assert.NotEqual(t, g1, h.status(t, "acme.app").Generation)
	})
}
