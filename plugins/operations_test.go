package plugins_test

import (
	"context"
	"errors"
	"sync/atomic"
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

func TestSwitches(t *testing.T) {
	t.Parallel()
	var written []plugins.Switch
	fail := false
	h := start(t, plugins.Options{Persist: func(_ context.Context, s plugins.Switch) error {
		if fail {
			return errors.New("disk full")
		}
		written = append(written, s)
		return nil
	}}, plugin("acme.x", greet()), requires(plugin("acme.y"), "acme.x"))

	result, err := h.SetEnabled(t.Context(), "acme.x", false, plugins.ScopePersistent)
	require.NoError(t, err)
	assert.Equal(t, plugins.Applied, result.Outcome)
	assert.Equal(t, []string{"acme.x", "acme.y"}, result.Affected)
	assert.Equal(t, []plugins.Switch{{ID: "acme.x", On: false, Source: plugins.SourceHost}}, written)
	assert.Equal(t, h.Snapshot().Revision, result.Revision)

	revision := h.Snapshot().Revision
	result, err = h.SetEnabled(t.Context(), "acme.x", false, plugins.ScopePersistent)
	require.NoError(t, err)
	assert.Equal(t, plugins.NoChange, result.Outcome)
	assert.Len(t, written, 1)
	assert.Equal(t, revision, result.Revision)

	fail = true
	result, err = h.SetEnabled(t.Context(), "acme.x", true, plugins.ScopePersistent)
	require.NoError(t, err)
	assert.Equal(t, plugins.NotApplied, result.Outcome)
	require.Equal(t, []plugins.Code{plugins.PluginEnablementNotPersisted}, codesOf(result.Diagnostics))
	assert.Equal(t, map[string]any{"source": "host"}, result.Diagnostics[0].Params)
	assert.False(t, h.status(t, "acme.x").Enabled)

	assert.Equal(t, plugins.Applied, h.enable(t, "acme.x", true).Outcome, "the scope of the process writes nothing")
	assert.Equal(t, plugins.Active, h.status(t, "acme.y").State)
	_, err = h.SetEnabled(t.Context(), "acme.none", true, plugins.ScopeProcess)
	require.ErrorIs(t, err, plugins.ErrUnknownPlugin)
	_, err = h.SetEnabled(t.Context(), "acme.none", true, plugins.ScopePersistent)
	require.ErrorIs(t, err, plugins.ErrUnknownPlugin)
}

func TestQuiescedPluginsStayDownUntilReconcile(t *testing.T) {
	t.Parallel()
	in := plugins.Inputs{}
	var released, resumed [][]string
	h := start(t, plugins.Options{
		Inputs:  func(context.Context) (plugins.Inputs, error) { return in, nil },
		Release: func(_ context.Context, ids []string) error { released = append(released, ids); return nil },
		Resume:  func(_ context.Context, ids []string) { resumed = append(resumed, ids) },
	}, plugin("acme.x", greet()), requires(plugin("acme.y", greet()), "acme.x"))
	g1 := h.status(t, "acme.x").Generation

	result, err := h.Reconcile(t.Context(), "acme.x")
	require.NoError(t, err)
	assert.Equal(t, plugins.NotApplied, result.Outcome)
	require.Equal(t, []plugins.Code{plugins.PluginOperationIncomplete}, codesOf(result.Diagnostics))
	assert.Equal(t, map[string]any{"pluginId": "acme.x", "state": "active"}, result.Diagnostics[0].Params)

	result, err = h.Quiesce(t.Context(), "acme.x")
	require.NoError(t, err)
	assert.Equal(t, plugins.Applied, result.Outcome)
	assert.Empty(t, h.greeters())
	assert.True(t, h.status(t, "acme.x").Enabled, "intents stay")
	h.inState(t, "acme.y", plugins.Stopped)
	h.enable(t, "acme.y", false)
	h.enable(t, "acme.y", true)
	assert.Empty(t, h.greeters(), "down until Reconcile")

	result, err = h.Reconcile(t.Context(), "acme.x")
	require.NoError(t, err)
	assert.Equal(t, plugins.NoChange, result.Outcome)
	assert.Equal(t, plugins.Active, h.status(t, "acme.x").State)
	assert.Equal(t, plugins.Active, h.status(t, "acme.y").State)
	assert.NotEqual(t, g1, h.status(t, "acme.x").Generation)
	assert.Equal(t, [][]string{{"acme.x", "acme.y"}}, released)
	assert.Equal(t, released, resumed)

	// A directory comes, switches it off, and goes.
	for _, c := range []struct {
		placements []plugins.Placement
		state      plugins.State
	}{
		{[]plugins.Placement{{ID: "acme.x", Directory: "x", Source: plugins.SourceHome}}, plugins.Stopped},
		{nil, plugins.Active},
	} {
		_, err = h.Quiesce(t.Context(), "acme.x")
		require.NoError(t, err)
		in.Placements = c.placements
		result, err = h.Reconcile(t.Context(), "acme.x")
		require.NoError(t, err)
		assert.Equal(t, plugins.Applied, result.Outcome)
		h.inState(t, "acme.x", c.state)
	}
	_, err = h.Quiesce(t.Context(), "acme.none")
	require.ErrorIs(t, err, plugins.ErrUnknownPlugin)
	_, err = h.Reconcile(t.Context(), "acme.none")
	require.ErrorIs(t, err, plugins.ErrUnknownPlugin)
}

func TestPluginThatComesAndGoesWithItsDirectory(t *testing.T) {
	t.Parallel()
	in := plugins.Inputs{}
	h := start(t, plugins.Options{Inputs: func(context.Context) (plugins.Inputs, error) { return in, nil }},
		requires(plugin("acme.c"), "acme.elsewhere"))
	assert.Equal(t, "missing", h.status(t, "acme.c").Blockers[0].Params["reason"])
	in.Placements = []plugins.Placement{{ID: "acme.elsewhere", Directory: "e", Source: plugins.SourceHome, Enabled: true}}
	result, err := h.Reconcile(t.Context(), "acme.elsewhere")
	require.NoError(t, err)
	assert.Equal(t, plugins.Applied, result.Outcome)
	assert.Equal(t, []string{"acme.c", "acme.elsewhere"}, result.Affected)
	assert.Equal(t, "unavailable", h.status(t, "acme.c").Blockers[0].Params["reason"])
	in.Placements = nil
	result, err = h.Reconcile(t.Context(), "acme.elsewhere")
	require.NoError(t, err)
	assert.Equal(t, plugins.Applied, result.Outcome)
	_, known := h.Snapshot().Find("acme.elsewhere")
	assert.False(t, known)
	assert.Equal(t, "missing", h.status(t, "acme.c").Blockers[0].Params["reason"])
}

func TestHolderThatDoesNotLetGo(t *testing.T) {
	t.Parallel()
	h := start(t, plugins.Options{Release: func(context.Context, []string) error { return errors.New("busy") }}, plugin("acme.x"))
	g1 := h.status(t, "acme.x").Generation
	result, err := h.Quiesce(t.Context(), "acme.x")
	require.NoError(t, err)
	assert.Equal(t, plugins.NotApplied, result.Outcome)
	require.Equal(t, []plugins.Code{plugins.PluginContributionQuiesceFailed}, codesOf(result.Diagnostics))
	assert.Equal(t, map[string]any{"phase": "release", "failureType": "*errors.errorString"}, result.Diagnostics[0].Params)
	assert.Equal(t, g1, h.status(t, "acme.x").Generation)
}

func TestQuiesceThatIsTooSlowComesBackUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var once atomic.Bool
		h := start(t, plugins.Options{Timeouts: plugins.Timeouts{Cleanup: time.Second}},
			plugin("acme.x", fx.Invoke(func(life *generations.Lifetime) error {
				return life.OnClose("slow", func(context.Context) error {
					if !once.Swap(true) {
						<-release
					}
					return nil
				})
			})))
		g1 := h.status(t, "acme.x").Generation
		result, err := h.Quiesce(t.Context(), "acme.x")
		require.NoError(t, err)
		assert.Equal(t, plugins.NotApplied, result.Outcome)
		assert.Equal(t, []plugins.Code{plugins.PluginDrainTimeout, plugins.PluginOperationIncomplete}, codesOf(result.Diagnostics))
		close(release)
		assert.NotEqual(t, g1, h.inState(t, "acme.x", plugins.Active).Generation)
	})
}

func TestCleanupErrorsChangeNoOutcome(t *testing.T) {
	t.Parallel()
	h := start(t, plugins.Options{}, plugin("acme.x", fx.Invoke(func(life *generations.Lifetime, lc fx.Lifecycle) error {
		lc.Append(fx.StopHook(func() { panic("secret") }))
		return life.OnClose("bad", func(context.Context) error { return errors.New("secret") })
	})))
	result := h.enable(t, "acme.x", false)
	assert.Equal(t, plugins.Applied, result.Outcome)
	require.Equal(t, []plugins.Code{plugins.PluginCleanupFailed}, codesOf(result.Diagnostics))
	assert.Equal(t, 2, result.Diagnostics[0].Params["count"])
	assert.Equal(t, plugins.PhaseCleanup, result.Diagnostics[0].Phase)
}

func TestStartHooks(t *testing.T) {
	t.Parallel()
	var j journal
	hook := func(name string, fail func() error) fx.Option {
		return fx.Invoke(func(lc fx.Lifecycle) {
			lc.Append(fx.StartStopHook(
				func() error { j.write("start " + name); return fail() },
				func() { j.write("stop " + name) }))
		})
	}
	fine := func() error { return nil }
	h := start(t, plugins.Options{},
		plugin("acme.error", hook("a", fine), hook("b", func() error { return errors.New("no") }), hook("c", fine)),
		plugin("acme.panic", hook("d", fine), hook("e", func() error { panic("no") })),
		plugin("acme.fine", hook("f", fine)))
	assert.Equal(t, plugins.Faulted, h.status(t, "acme.error").State)
	assert.Equal(t, plugins.Faulted, h.status(t, "acme.panic").State)
	h.enable(t, "acme.fine", false)
	assert.Equal(t, []string{"start a", "start b", "stop a", "start d", "start e", "stop d", "start f", "stop f"}, j.read())
}

func TestAddThatIsStillBeingPrepared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		entered, release := make(chan struct{}), make(chan struct{})
		slow := contrib.Define(contrib.Spec[Greeter]{
			Name: "test.slow", Doc: "Is slow to describe.", Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
			Evaluation: contrib.PerCall, Failure: contrib.Skip,
			Describe: func(Greeter) (any, error) { close(entered); <-release; return nil, nil },
			Guard:    func(v Greeter, _ any, ref contrib.Ref) Greeter { return guardedGreeter{generations.Bind(ref, v)} },
		})
		registry, err := contrib.New(slow)
		require.NoError(t, err)
		added := make(chan error, 1)
		r, err := plugins.New(registry, plugins.Options{}, plugin("acme.x", fx.Invoke(func(r *contrib.Registrar) {
			go func() { _, err := slow.Add(r, &closingGreeter{}); added <- err }()
			<-entered
		})))
		require.NoError(t, err)
		started := make(chan error, 1)
		go func() { started <- r.Start(t.Context()) }()
		synctest.Wait() // the commit has failed; its rollback waits for the add, which is a call inside
		close(release)
		require.NoError(t, <-started)
		require.Error(t, <-added)
		h := &host{r, registry}
		s := h.status(t, "acme.x")
		assert.Equal(t, plugins.Faulted, s.State)
		assert.Equal(t, "registrationPending", s.Blockers[0].Params["reason"])
		require.NoError(t, r.Shutdown(t.Context()))
	})
}

func TestRefusedContributionsAreDiagnosed(t *testing.T) {
	t.Parallel()
	h := start(t, plugins.Options{}, plugin("acme.x", greet(), contrib.Supply(greeters, Greeter(nil))))
	s := h.status(t, "acme.x")
	assert.Equal(t, plugins.Active, s.State)
	require.Equal(t, []plugins.Code{"ContributionRefused"}, codesOf(s.Diagnostics))
	assert.Equal(t, "nilContribution", s.Diagnostics[0].Params["reason"])
	assert.Len(t, h.greeters(), 1)
}

func TestSubscribers(t *testing.T) {
	t.Parallel()
	h := prepare(t, plugins.Options{}, plugin("acme.x"), plugin("acme.y"))
	var j journal
	var revisions []uint64
	cancel := h.Subscribe("first", func(e plugins.Event) { revisions = append(revisions, e.Revision); panic("secret") })
	defer h.Subscribe("second", func(e plugins.Event) {
		for _, id := range e.Changed {
			j.write(id)
		}
		// A subscriber may call operations.
		_, err := h.SetEnabled(context.Background(), "acme.y", false, plugins.ScopeProcess)
		assert.NoError(t, err)
	})()
	require.NoError(t, h.Start(t.Context()))
	h.inState(t, "acme.y", plugins.Stopped)
	cancel()
	require.NotEmpty(t, revisions)
	for i := 1; i < len(revisions); i++ {
		assert.Equal(t, revisions[i-1]+1, revisions[i])
	}
	assert.Subset(t, j.read(), []string{"acme.x", "acme.y"})
	found := false
	for _, d := range h.registry.Diagnostics() {
		found = found || d.Code == "ContributionObserverFailed" && d.Params["subscriber"] == "first"
	}
	assert.True(t, found)
}

func TestDescribersAndEnvironment(t *testing.T) {
	t.Parallel()
	var env plugins.Environment
	h := start(t, plugins.Options{Describe: func(_ context.Context, f plugins.Facts) []string {
		if f.ID == "acme.bad" {
			panic("no")
		}
		return []string{f.ID + ".tool"}
	}}, plugin("acme.x", fx.Invoke(func(e plugins.Environment) { env = e })), plugin("acme.bad"))
	assert.Equal(t, []string{"acme.x.tool"}, h.status(t, "acme.x").Tools)
	assert.Equal(t, plugins.Active, h.status(t, "acme.bad").State)
	assert.Empty(t, env.Catalog().Skills)
	h.Attach(plugins.Catalog{Skills: []plugins.Skill{{Name: "a"}}})
	assert.Equal(t, []plugins.Skill{{Name: "a"}}, env.Catalog().Skills)
	h.enable(t, "acme.x", false)
	assert.Empty(t, h.status(t, "acme.x").Tools)
	assert.Empty(t, plugins.Environment{}.Catalog())
}

func TestRuntimeAsPartOfAHost(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	var r *plugins.Runtime
	var got Store
	app := fx.New(fx.NopLogger, fx.Supply(registry), fx.Supply(plugins.Options{HostVersion: "1.0.0"}),
		fx.Provide(func() Store { return &store{"shared"} }), plugins.Share[Store](),
		plugins.Module(plugin("acme.x", greet(), fx.Invoke(func(s Store) { got = s }))), fx.Populate(&r))
	require.NoError(t, app.Err())
	assert.Empty(t, greeters.In(registry.View(), ""))
	require.NoError(t, app.Start(t.Context()))
	assert.Len(t, greeters.In(registry.View(), ""), 1)
	assert.Equal(t, "shared", got.Read())
	s := r.Snapshot().Plugins[0]
	gate, ok := r.Gate("acme.x", s.Generation)
	require.True(t, ok)
	assert.False(t, gate.Closed())
	require.NoError(t, app.Stop(t.Context()))
	assert.Empty(t, greeters.In(registry.View(), ""))
	assert.True(t, gate.Closed())

	app = fx.New(fx.NopLogger, fx.Supply(registry), plugins.Share[*contrib.Registry](), plugins.Module())
	require.ErrorIs(t, app.Err(), plugins.ErrShared)
}

func TestStartThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		options plugins.Options
		want    error
	}{
		"inputs": {plugins.Options{Inputs: func(context.Context) (plugins.Inputs, error) { return plugins.Inputs{}, broken }}, broken},
		"switch": {plugins.Options{Switches: map[string]bool{"acme.none": true}}, plugins.ErrUnknownPlugin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := fx.New(fx.NopLogger, fx.Supply(newRegistry(t), c.options), plugins.Module(plugin("acme.x", greet())))
			require.NoError(t, app.Err())
			require.ErrorIs(t, app.Start(t.Context()), c.want)
		})
	}
}
