package plugins_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/plugins"
)

// DEP-2: why a provider is not usable.
func TestWhyAProviderIsNotUsable(t *testing.T) {
	t.Parallel()
	consumer := func(id, provider, version string) plugins.Plugin {
		return plugins.Plugin{ID: id, Version: "1.0.0", Requires: deps.Requirements{provider: version}}
	}
	h := start(t, plugins.Options{
		Inputs: func(context.Context) (plugins.Inputs, error) {
			return plugins.Inputs{
				Placements: []plugins.Placement{{ID: "acme.elsewhere", Directory: "elsewhere", Source: plugins.SourceHome, Enabled: true}},
				Disabled:   []string{"acme.off"},
			}, nil
		},
	},
		plugin("acme.base"), plugin("acme.off"),
		consumer("acme.c1", "acme.unknown", "1.0.0"),
		consumer("acme.c2", "acme.base", "1.2.0"),
		consumer("acme.c3", "acme.off", "1.0.0"),
		consumer("acme.c4", "acme.elsewhere", "1.0.0"),
		consumer("acme.d1", "acme.c5", "1.0.0"),
		consumer("acme.c5", "acme.d1", "1.0.0"),
		consumer("acme.outside", "acme.d1", "1.0.0"),
	)
	for id, want := range map[string]map[string]any{
		"acme.c1":      {"providerId": "acme.unknown", "requiredVersion": "1.0.0", "observedVersion": "", "reason": "missing"},
		"acme.c2":      {"providerId": "acme.base", "requiredVersion": "1.2.0", "observedVersion": "1.0.0", "reason": "versionUnsatisfied"},
		"acme.c3":      {"providerId": "acme.off", "requiredVersion": "1.0.0", "observedVersion": "1.0.0", "reason": "disabled"},
		"acme.c4":      {"providerId": "acme.elsewhere", "requiredVersion": "1.0.0", "observedVersion": "", "reason": "unavailable"},
		"acme.outside": {"providerId": "acme.d1", "requiredVersion": "1.0.0", "observedVersion": "1.0.0", "reason": "blocked"},
	} {
		s := h.status(t, id)
		assert.Equal(t, plugins.Blocked, s.State)
		require.Equal(t, []plugins.Code{plugins.PluginDependencyUnsatisfied}, codes(s.Blockers), id)
		assert.Equal(t, want, s.Blockers[0].Params)
		require.Len(t, s.Dependencies, 1)
		assert.Equal(t, want["reason"], s.Dependencies[0].Status)
	}
	for _, id := range []string{"acme.c5", "acme.d1"} {
		s := h.status(t, id)
		require.Equal(t, []plugins.Code{plugins.PluginDependencyCycle}, codes(s.Blockers), id)
		assert.Equal(t, []string{"acme.c5", "acme.d1"}, s.Blockers[0].Params["cyclePluginIds"])
	}
	elsewhere := h.status(t, "acme.elsewhere")
	assert.Equal(t, []plugins.Code{plugins.PluginNotCompiled}, codes(elsewhere.Blockers))
	assert.Equal(t, plugins.SourceHome, elsewhere.Source)
}

// DEP-4: an export that is not there.
func TestExportThatIsNotThere(t *testing.T) {
	t.Parallel()
	ran := false
	needs := fx.Invoke(func(Store) { ran = true })
	h := start(t, plugins.Options{},
		plugin("acme.p1"),
		requires(plugin("acme.c1", export.Import[Store]("acme.p1"), needs), "acme.p1"),
		plugin("acme.c2", export.Import[Store]("acme.p1"), needs))
	assert.False(t, ran)
	for id, reason := range map[string]string{"acme.c1": "notExported", "acme.c2": "notDirect"} {
		s := h.status(t, id)
		assert.Equal(t, plugins.Blocked, s.State)
		require.Equal(t, []plugins.Code{plugins.PluginServiceExportMissing}, codes(s.Blockers))
		assert.Equal(t, map[string]any{
			"providerId": "acme.p1", "contract": "github.com/crystalkernel/crystal/plugins_test.Store", "reasonCode": reason,
		}, s.Blockers[0].Params)
	}
}

// DEP-7: two direct providers of one interface.
func TestTwoProvidersOfOneInterface(t *testing.T) {
	t.Parallel()
	ran := map[string]bool{}
	consumer := func(id string, providers ...string) plugins.Plugin {
		return requires(plugin(id, fx.Invoke(func(f plugins.Facts) { ran[f.ID] = true })), providers...)
	}
	h := start(t, plugins.Options{},
		plugin("acme.p2", export.Supply[Store](&store{})), plugin("acme.p1", export.Supply[Store](&store{})),
		consumer("acme.c1", "acme.p2", "acme.p1"), consumer("acme.c2", "acme.p1"))
	s := h.status(t, "acme.c1")
	assert.Equal(t, plugins.Blocked, s.State)
	require.Equal(t, []plugins.Code{plugins.PluginApiAssemblyConflict}, codes(s.Blockers))
	assert.Equal(t, map[string]any{
		"contract": "github.com/crystalkernel/crystal/plugins_test.Store", "providerIds": []string{"acme.p1", "acme.p2"},
	}, s.Blockers[0].Params)
	assert.Equal(t, map[string]bool{"acme.c2": true}, ran)
	assert.Equal(t, plugins.Active, h.status(t, "acme.p1").State)
	assert.Equal(t, plugins.Active, h.status(t, "acme.p2").State)
}

func TestBlockersOfOnePluginAddUp(t *testing.T) {
	t.Parallel()
	ran := false
	h := start(t, plugins.Options{HostVersion: "1.4.0-rc.1+b5"}, plugins.Plugin{
		ID: "acme.x", Version: "1.0", MinHostVersion: "1.5.0", Requires: deps.Requirements{"acme.none": "1.0.0"},
		Settings: []plugins.Field{{Key: "1x", Type: plugins.TextField}},
		Module:   fx.Invoke(func(*journal) { ran = true }),
	})
	s := h.status(t, "acme.x")
	assert.Equal(t, plugins.Blocked, s.State)
	assert.Equal(t, []plugins.Code{
		plugins.PluginManifestInvalid, plugins.PluginManifestInvalid, plugins.PluginHostVersionUnsatisfied,
		plugins.PluginDependencyUnsatisfied, plugins.PluginGraphInvalid,
	}, codes(s.Blockers))
	assert.Equal(t, map[string]any{"required": "1.5.0", "observed": "1.4.0-rc.1+b5"}, s.Blockers[2].Params)
	assert.Equal(t, "missing type: *plugins_test.journal", s.Blockers[4].Params["detail"])
	assert.False(t, ran)
}

func TestInvalidFieldsBlock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plugin        plugins.Plugin
		field, reason string
	}{
		"no id":        {plugins.Plugin{Version: "1.0.0"}, "id", "missing"},
		"upper case":   {plugins.Plugin{ID: "Acme", Version: "1.0.0"}, "id", "invalidFormat"},
		"no version":   {plugins.Plugin{ID: "acme"}, "version", "missing"},
		"host version": {plugins.Plugin{ID: "acme", Version: "1.0.0", MinHostVersion: "v1"}, "minHostVersion", "invalidFormat"},
		"itself":       {plugins.Plugin{ID: "acme", Version: "1.0.0", Requires: deps.Requirements{"ACME": "1.0.0"}}, "requires", "selfDependency"},
		"twice":        {plugins.Plugin{ID: "acme", Version: "1.0.0", Requires: deps.Requirements{"b": "1.0.0", "B": "1.0.0"}}, "requires", "duplicate"},
		"requirement":  {plugins.Plugin{ID: "acme", Version: "1.0.0", Requires: deps.Requirements{"b": "1"}}, "requires", "invalidFormat"},
		"settings":     {plugins.Plugin{ID: "acme", Version: "1.0.0", Settings: []plugins.Field{{Key: "a", Type: "b"}}}, "settings", "invalidType"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, plugins.Options{}, c.plugin)
			s := h.status(t, c.plugin.ID)
			assert.Equal(t, plugins.Blocked, s.State)
			require.NotEmpty(t, s.Blockers)
			assert.Equal(t, plugins.PluginManifestInvalid, s.Blockers[0].Code)
			assert.Equal(t, c.field, s.Blockers[0].Params["field"])
			assert.Equal(t, c.reason, s.Blockers[0].Params["reasonCode"])
		})
	}
}

func TestRefusedExportBlocks(t *testing.T) {
	t.Parallel()
	ran := false
	h := start(t, plugins.Options{},
		plugin("acme.struct", export.Supply[store](store{}), fx.Invoke(func() { ran = true })),
		plugin("acme.twice", export.Supply[Store](&store{}), export.Supply[Store](&store{})))
	for id, reason := range map[string]string{"acme.struct": "notInterface", "acme.twice": "duplicate"} {
		s := h.status(t, id)
		assert.Equal(t, plugins.Blocked, s.State)
		require.Equal(t, []plugins.Code{plugins.PluginApiExportInvalid}, codes(s.Blockers))
		assert.Equal(t, reason, s.Blockers[0].Params["reasonCode"])
	}
	assert.False(t, ran)
}

func TestSecondDisplayNameIsNotLoaded(t *testing.T) {
	t.Parallel()
	a, b := plugin("acme.a"), plugin("acme.b")
	a.Name, b.Name = "Review", "REVIEW"
	h := start(t, plugins.Options{}, a, b)
	assert.Equal(t, plugins.Active, h.status(t, "acme.a").State)
	s := h.status(t, "acme.b")
	require.Equal(t, []plugins.Code{plugins.PluginNameConflict}, codes(s.Blockers))
	assert.Equal(t, "acme.a", s.Blockers[0].Params["keptBy"])
}

// FIELD-C1: the same plugin twice is an error of the host that names the id, before anything has run.
func TestOnePluginListedTwice(t *testing.T) {
	t.Parallel()
	_, err := plugins.New(newRegistry(t), plugins.Options{}, plugin("acme.a"), plugin("acme.a"))
	require.ErrorIs(t, err, plugins.ErrDuplicateID)
	assert.ErrorContains(t, err, "acme.a")
}

// FIELD-C1: one id that two directories name has one generation.
func TestOnePluginNamedByTwoDirectories(t *testing.T) {
	t.Parallel()
	runs := 0
	h := start(t, plugins.Options{Inputs: func(context.Context) (plugins.Inputs, error) {
		return plugins.Inputs{Placements: []plugins.Placement{
			{ID: "acme.a", Directory: "b", Source: plugins.SourceHome, Enabled: true},
			{ID: "acme.a", Directory: "a", Source: plugins.SourceHome, Enabled: true},
			{ID: "acme.a", Directory: "z", Source: plugins.SourceProject, Enabled: true},
		}}, nil
	}}, plugin("acme.a", fx.Invoke(func() { runs++ })))
	assert.Equal(t, 1, runs)
	assert.Equal(t, "z", h.status(t, "acme.a").Directory)
	assert.Equal(t, plugins.SourceProject, h.status(t, "acme.a").Source)
}

func TestGenerationSeesNothingElseOfTheHost(t *testing.T) {
	t.Parallel()
	h := start(t, plugins.Options{},
		plugin("acme.registry", fx.Invoke(func(*contrib.Registry) {})),
		plugin("acme.runtime", fx.Invoke(func(*plugins.Runtime) {})),
		plugin("acme.options", fx.Invoke(func(plugins.Options) {})))
	for _, s := range h.Snapshot().Plugins {
		assert.Equal(t, []plugins.Code{plugins.PluginGraphInvalid}, codes(s.Blockers), s.ID)
	}
}

func TestWhatMayNotBeShared(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	for name, shared := range map[string][]plugins.Shared{
		"registry":   {plugins.ShareValue(registry)},
		"shutdowner": {plugins.ShareValue[fx.Shutdowner](nil)},
		"facts":      {plugins.ShareValue(plugins.Facts{})},
		"twice":      {plugins.ShareValue(1), plugins.ShareValue(2)},
		"nothing":    {{}},
	} {
		_, err := plugins.New(registry, plugins.Options{Shared: shared})
		require.ErrorIs(t, err, plugins.ErrShared, name)
	}
	_, err := plugins.New(registry, plugins.Options{Timeouts: plugins.Timeouts{Cleanup: -1}})
	require.ErrorIs(t, err, plugins.ErrOptions)
	_, err = plugins.New(registry, plugins.Options{Timeouts: plugins.Timeouts{LeakStacks: -1}})
	require.ErrorIs(t, err, plugins.ErrOptions)
	_, err = plugins.New(nil, plugins.Options{})
	require.ErrorIs(t, err, plugins.ErrOptions)
}
