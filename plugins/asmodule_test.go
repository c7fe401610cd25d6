package plugins_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
)

// Store is a service between plugins.
type Store interface{ Read() string }

type store struct{ text string }

func (s *store) Read() string { return s.text }

// moduleApp is a host app with a registry.
func moduleApp(t *testing.T, options ...fx.Option) (*fx.App, *contrib.Registry) {
	t.Helper()
	registry := newRegistry(t)
	return fx.New(fx.NopLogger, fx.Supply(registry, registry.Builtin(), slog.New(slog.DiscardHandler)), fx.Options(options...)), registry
}

func TestModulesServeEachOtherInAnyOrder(t *testing.T) {
	t.Parallel()
	provider := plugins.Plugin{ID: "acme.base", Version: "1.4.0", Module: export.Supply[Store](&store{"text"})}
	consumer := plugins.Plugin{
		ID: "acme.core", Version: "1.0.0", Requires: deps.Requirements{"acme.base": "1.2.0"},
		Module: fx.Options(
			contrib.Provide(greeters, func(s Store, f plugins.Facts) Greeter {
				return greeterFunc(func(context.Context) (string, error) { return s.Read() + " in " + f.Generation, nil })
			}),
			export.Import[Store]("acme.base"),
		),
	}
	for _, order := range [][]fx.Option{{provider.AsModule(), consumer.AsModule()}, {consumer.AsModule(), provider.AsModule()}} {
		app, registry := moduleApp(t, order...)
		require.NoError(t, app.Err())
		entries := greeters.Entries(registry.View(), "")
		require.Len(t, entries, 1)
		assert.Equal(t, "module:acme.core", entries[0].Origin.String())
		answer, err := entries[0].Value.Greet(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "text in module", answer)
		assert.IsType(t, greeterFunc(nil), entries[0].Value, "a direct value, no guard")
		require.NoError(t, app.Start(t.Context()))
		require.NoError(t, app.Stop(t.Context()))
		assert.Empty(t, greeters.In(registry.View(), ""))
	}
}

func TestModuleRequirementsFailTheBuild(t *testing.T) {
	t.Parallel()
	consumer := plugins.Plugin{ID: "acme.core", Version: "1.0.0", Requires: deps.Requirements{"acme.base": "1.2.0"}}
	for name, c := range map[string]struct {
		options []fx.Option
		want    []string
	}{
		"missing": {[]fx.Option{consumer.AsModule()}, []string{"acme.core", "acme.base"}},
		"unfit": {
			[]fx.Option{consumer.AsModule(), plugins.Plugin{ID: "acme.base", Version: "2.0.0"}.AsModule()},
			[]string{"acme.core", "acme.base", "1.2.0", "2.0.0"},
		},
		"twice": {
			[]fx.Option{plugins.Plugin{ID: "acme.x", Version: "2.0.0"}.AsModule(), plugins.Plugin{ID: "acme.x", Version: "2.0.0"}.AsModule()},
			[]string{"acme.x", "twice"},
		},
		"manifest": {[]fx.Option{plugins.Plugin{ID: "acme.x", Version: "2"}.AsModule()}, []string{"acme.x", "version"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, _ := moduleApp(t, c.options...)
			for _, part := range c.want {
				require.ErrorContains(t, app.Err(), part)
			}
		})
	}
}

func TestModuleLifetimeFollowsTheApp(t *testing.T) {
	t.Parallel()
	var j journal
	working := make(chan struct{})
	p := plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: fx.Invoke(
		func(life *generations.Lifetime, lc fx.Lifecycle) error {
			lc.Append(fx.StartStopHook(func() { j.write("start hook") }, func() { j.write("stop hook") }))
			return errors.Join(
				life.OnClose("resource", func(context.Context) error { j.write("close"); return nil }),
				life.Go("work", func(ctx context.Context) error {
					j.write("work")
					close(working)
					<-ctx.Done()
					j.write("work ends")
					return context.Cause(ctx)
				}),
			)
		})}
	app, _ := moduleApp(t, p.AsModule())
	require.NoError(t, app.Err())
	require.NoError(t, app.Start(t.Context()))
	<-working
	require.NoError(t, app.Stop(t.Context()))
	assert.Equal(t, []string{"start hook", "work", "work ends", "stop hook", "close"}, j.read())
}

func TestModuleWorkThatFailsShutsTheAppDown(t *testing.T) {
	t.Parallel()
	p := plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: fx.Invoke(
		func(life *generations.Lifetime) error {
			return life.Go("pump", func(context.Context) error { panic("no") })
		})}
	app, _ := moduleApp(t, p.AsModule())
	require.NoError(t, app.Start(t.Context()))
	signal := <-app.Wait()
	assert.Equal(t, 1, signal.ExitCode)
	err := app.Stop(t.Context())
	require.ErrorIs(t, err, plugins.ErrWorkFailed)
	assert.ErrorContains(t, err, "acme.x")
}

func TestModuleOfAnAppThatDoesNotStartIsClosed(t *testing.T) {
	t.Parallel()
	closed := false
	p := plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: fx.Invoke(
		func(life *generations.Lifetime, lc fx.Lifecycle) error {
			lc.Append(fx.StartHook(func() error { return errors.New("no") }))
			return life.OnClose("resource", func(context.Context) error { closed = true; return nil })
		})}
	app, _ := moduleApp(t, p.AsModule())
	require.NoError(t, app.Err())
	require.ErrorContains(t, app.Start(t.Context()), "no")
	assert.True(t, closed)
}

// A host app that is built and thrown away leaves no goroutine behind once it has been collected.
func TestModuleOfAnAppThatIsThrownAway(t *testing.T) {
	t.Parallel()
	p := plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: fx.Invoke(func(*generations.Lifetime) {})}
	func() {
		app, _ := moduleApp(t, p.AsModule())
		require.NoError(t, app.Err())
	}()
	collect()
}

func TestModuleSettingsAndDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var s plugins.Settings
	var d plugins.DataDirs
	p := plugins.Plugin{
		ID: "acme.x", Version: "1.0.0", MinHostVersion: "1.0.0", Settings: []plugins.Field{{Key: "depth", Type: plugins.NumberField, Default: 1}},
		Module: fx.Invoke(func(settings plugins.Settings, dirs plugins.DataDirs, _ plugins.Facts, _ plugins.Environment) {
			s, d = settings, dirs
		}),
	}
	options := plugins.Options{
		HostVersion: "1.2.0",
		Inputs: func(context.Context) (plugins.Inputs, error) {
			return plugins.Inputs{Home: plugins.SettingsLayer{Plugins: map[string]map[string]any{"acme.x": {"depth": 3}}}}, nil
		},
		DataDirs: func(name string) plugins.Directories { return plugins.Directories{Home: dir + "/" + name} },
	}
	app, _ := moduleApp(t, fx.Supply(options), p.AsModule())
	require.NoError(t, app.Start(t.Context()))
	assert.InDelta(t, 3, s.Number("depth"), 0)
	home, err := d.Home()
	require.NoError(t, err)
	assert.DirExists(t, home)
	require.NoError(t, app.Stop(t.Context()))
	_, err = d.Home()
	require.ErrorIs(t, err, generations.ErrStopping)

	options.HostVersion = "0.9.0"
	app, _ = moduleApp(t, fx.Supply(options), p.AsModule())
	require.ErrorContains(t, app.Err(), "1.0.0")
}
