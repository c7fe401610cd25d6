package plugins_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/plugins"
)

func ptr(f float64) *float64 { return &f }

var fields = []plugins.Field{
	{Key: "name", Type: plugins.TextField, Default: "none"},
	{Key: "depth", Type: plugins.NumberField, Default: 1, Min: ptr(0), Max: ptr(9)},
	{Key: "loud", Type: plugins.BoolField},
	{Key: "mode", Type: plugins.SelectField, Options: []string{"a", "b"}, Default: "a"},
	{Key: "tags", Type: plugins.ListField, Default: []string{"x"}},
	{Key: "labels", Type: plugins.MapField, Default: map[string]string{"k": "v"}},
	{Key: "extra", Type: plugins.JSONField, Default: map[string]any{"a": map[string]any{"b": 1, "c": 2}}},
	{Key: "secret", Type: plugins.TextField, HomeOnly: true},
}

type layers map[string]map[string]any

func withSettings(manifest map[string]any, home, workspace layers) plugins.Inputs {
	in := plugins.Inputs{Home: plugins.SettingsLayer{Plugins: home}, Workspace: plugins.SettingsLayer{Plugins: workspace}}
	if manifest != nil {
		in.Placements = []plugins.Placement{{ID: "acme.x", Directory: "x", Source: plugins.SourceProject, Enabled: true, Settings: manifest}}
	}
	return in
}

func TestSettingsLayers(t *testing.T) {
	t.Parallel()
	var s plugins.Settings
	p := plugin("acme.x", fx.Invoke(func(got plugins.Settings) { s = got }))
	p.Settings = fields
	in := withSettings(
		map[string]any{"name": "manifest", "depth": 2, "extra": map[string]any{"a": map[string]any{"b": 9}}},
		layers{"acme.x": {"NAME": "home", "secret": "s", "labels": map[string]any{"h": "1"}}, "acme.other": {"x": 1}},
		layers{"acme.x": {"loud": true, "tags": []any{"y", "z"}, "mode": "b"}})
	h := start(t, plugins.Options{Inputs: func(context.Context) (plugins.Inputs, error) { return in, nil }}, p)
	require.Empty(t, h.status(t, "acme.x").Blockers)
	assert.Equal(t, "home", s.Text("name"))
	assert.InDelta(t, 2, s.Number("depth"), 0)
	assert.True(t, s.Bool("loud"))
	assert.Equal(t, "b", s.Text("mode"))
	assert.Equal(t, []string{"y", "z"}, s.List("tags"))
	assert.Equal(t, map[string]string{"k": "v", "h": "1"}, s.Map("labels"))
	assert.JSONEq(t, `{"a":{"b":9,"c":2}}`, string(s.JSON("extra")))
	assert.Equal(t, "null", string(s.JSON("none")))
	assert.Equal(t, []string{"depth", "extra", "labels", "loud", "mode", "name", "secret", "tags"}, s.Keys())
	var decoded struct{ Name string }
	require.NoError(t, s.Decode(&decoded))
	assert.Equal(t, "home", decoded.Name)
	require.Error(t, s.Decode(nil))
	raw, err := json.Marshal(plugins.Settings{})
	require.NoError(t, err)
	assert.Equal(t, "{}", string(raw))
}

func TestSettingsThatBlock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   plugins.Inputs
		want map[string]any
	}{
		"unknown":   {withSettings(nil, layers{"acme.x": {"nope": 1}}, nil), map[string]any{"field": "nope", "layer": "home", "reasonCode": "unknown"}},
		"duplicate": {withSettings(nil, layers{"acme.x": {"name": "a", "Name": "b"}}, nil), map[string]any{"field": "name", "layer": "home", "reasonCode": "duplicate"}},
		"type":      {withSettings(nil, nil, layers{"acme.x": {"depth": "1"}}), map[string]any{"field": "depth", "layer": "workspace", "reasonCode": "type"}},
		"range":     {withSettings(nil, nil, layers{"acme.x": {"depth": 10}}), map[string]any{"field": "depth", "layer": "workspace", "reasonCode": "range"}},
		"option":    {withSettings(nil, nil, layers{"acme.x": {"mode": "A"}}), map[string]any{"field": "mode", "layer": "workspace", "reasonCode": "option"}},
		"list":      {withSettings(nil, nil, layers{"acme.x": {"tags": []any{1}}}), map[string]any{"field": "tags", "layer": "workspace", "reasonCode": "type"}},
		"map":       {withSettings(nil, nil, layers{"acme.x": {"labels": map[string]any{"a": 1}}}), map[string]any{"field": "labels", "layer": "workspace", "reasonCode": "type"}},
		"home only": {withSettings(nil, nil, layers{"acme.x": {"secret": "s"}}), map[string]any{"field": "secret", "layer": "workspace", "reasonCode": "homeOnly"}},
		"manifest":  {withSettings(map[string]any{"secret": "s"}, nil, nil), map[string]any{"field": "secret", "layer": "manifest", "reasonCode": "homeOnly"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plugin("acme.x")
			p.Settings = fields
			h := start(t, plugins.Options{Inputs: func(context.Context) (plugins.Inputs, error) { return c.in, nil }}, p)
			s := h.status(t, "acme.x")
			assert.Equal(t, plugins.Blocked, s.State)
			require.Equal(t, []plugins.Code{plugins.PluginSettingsNamespaceInvalid}, codes(s.Blockers))
			assert.Equal(t, c.want, s.Blockers[0].Params)
			assert.Equal(t, plugins.PhaseSettings, s.Blockers[0].Phase)
		})
	}
	p, plain := plugin("acme.x"), plugin("acme.plain")
	p.Settings = fields
	in := plugins.Inputs{Home: plugins.SettingsLayer{Err: errors.New("/home/me/secret.json: bad"), Plugins: layers{"acme.plain": {"a": 1}}}}
	h := start(t, plugins.Options{Inputs: func(context.Context) (plugins.Inputs, error) { return in, nil }}, p, plain)
	s := h.status(t, "acme.x")
	require.Equal(t, []plugins.Code{plugins.PluginSettingsDocumentInvalid}, codes(s.Blockers))
	assert.NotContains(t, fmt.Sprint(s.Blockers), "/home")
	s = h.status(t, "acme.plain")
	assert.Equal(t, plugins.Active, s.State)
	assert.Equal(t, []plugins.Code{plugins.PluginSettingsNotDeclared}, codesOf(s.Diagnostics))
}

func TestFieldDeclarations(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]plugins.Field{
		"no key":           {{Type: plugins.TextField}},
		"bad key":          {{Key: "a-b", Type: plugins.TextField}},
		"twice":            {{Key: "a", Type: plugins.TextField}, {Key: "A", Type: plugins.TextField}},
		"options":          {{Key: "a", Type: plugins.TextField, Options: []string{"x"}}},
		"no options":       {{Key: "a", Type: plugins.SelectField}},
		"limits":           {{Key: "a", Type: plugins.TextField, Min: ptr(1)}},
		"limits the wrong": {{Key: "a", Type: plugins.NumberField, Min: ptr(2), Max: ptr(1)}},
		"default type":     {{Key: "a", Type: plugins.NumberField, Default: "1"}},
		"default range":    {{Key: "a", Type: plugins.NumberField, Default: 3, Max: ptr(2)}},
		"default infinite": {{Key: "a", Type: plugins.NumberField, Default: math.Inf(1)}},
		"default function": {{Key: "a", Type: plugins.TextField, Default: func() {}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plugin("acme.x")
			p.Settings = list
			h := start(t, plugins.Options{}, p)
			require.NotEmpty(t, h.status(t, "acme.x").Blockers)
			assert.Equal(t, "settings", h.status(t, "acme.x").Blockers[0].Params["field"])
		})
	}
}

func TestChangingSettings(t *testing.T) {
	t.Parallel()
	home := map[string]any{}
	fail := error(nil)
	var seen []string
	p := plugin("acme.x", fx.Invoke(func(s plugins.Settings) { seen = append(seen, s.Text("name")) }))
	p.Settings = fields
	h := start(t, plugins.Options{
		Inputs: func(context.Context) (plugins.Inputs, error) {
			return withSettings(nil, layers{"acme.x": maps.Clone(home)}, nil), nil
		},
		WriteSettings: func(_ context.Context, scope plugins.SettingsScope, id string, changes []plugins.SettingsChange) error {
			if scope != plugins.SettingsHome {
				return plugins.ErrNoScope
			}
			if fail != nil {
				return fail
			}
			for _, c := range changes {
				if c.Unset {
					delete(home, c.Key)
				} else {
					home[c.Key] = c.Value
				}
			}
			return nil
		},
	}, p, requires(plugin("acme.y"), "acme.x"), plugin("acme.none"))
	dependant := h.status(t, "acme.y").Generation

	change := func(id string, scope plugins.SettingsScope, changes ...plugins.SettingsChange) plugins.Result {
		result, err := h.ChangeSettings(t.Context(), id, scope, changes...)
		require.NoError(t, err)
		return result
	}
	result := change("acme.x", plugins.SettingsHome, plugins.SetSetting("Name", "new"), plugins.SetSetting("depth", 4))
	assert.Equal(t, plugins.Applied, result.Outcome)
	assert.Equal(t, map[string]any{"name": "new", "depth": 4.0}, home)
	assert.NotEqual(t, dependant, h.status(t, "acme.y").Generation, "dependants restart too")
	change("acme.x", plugins.SettingsHome, plugins.UnsetSetting("name"))
	assert.Equal(t, []string{"none", "new", "none"}, seen)

	refused := func(result plugins.Result, code plugins.Code, params map[string]any) {
		t.Helper()
		assert.Equal(t, plugins.NotApplied, result.Outcome)
		require.Equal(t, []plugins.Code{code}, codesOf(result.Diagnostics))
		assert.Equal(t, params, result.Diagnostics[0].Params)
		assert.Equal(t, plugins.Active, h.status(t, "acme.y").State)
	}
	invalid := plugins.PluginSettingsMutationInvalid
	refused(change("acme.x", "moon", plugins.UnsetSetting("name")), invalid, map[string]any{"field": "", "reasonCode": "scope"})
	refused(change("acme.x", plugins.SettingsHome), invalid, map[string]any{"field": "", "reasonCode": "operation"})
	refused(change("acme.x", plugins.SettingsHome, plugins.SetSetting("nope", 1)), invalid, map[string]any{"field": "nope", "reasonCode": "unknown"})
	refused(change("acme.x", plugins.SettingsHome, plugins.SetSetting("depth", 99)), invalid, map[string]any{"field": "depth", "reasonCode": "range"})
	refused(change("acme.x", plugins.SettingsWorkspace, plugins.SetSetting("secret", "s")), invalid, map[string]any{"field": "secret", "reasonCode": "homeOnly"})
	refused(change("acme.none", plugins.SettingsHome, plugins.UnsetSetting("a")), plugins.PluginSettingsNotDeclared, map[string]any{"pluginId": "acme.none"})
	refused(change("acme.x", plugins.SettingsWorkspace, plugins.SetSetting("name", "s")), plugins.PluginSettingsScopeUnavailable, map[string]any{"scope": "workspace"})
	fail = errors.New("disk full")
	refused(change("acme.x", plugins.SettingsHome, plugins.SetSetting("name", "s")), plugins.PluginSettingsWriteFailed, map[string]any{"scope": "home"})
	home["nope"] = 1
	refused(change("acme.x", plugins.SettingsHome, plugins.SetSetting("name", "s")), plugins.PluginSettingsNamespaceInvalid,
		map[string]any{"field": "nope", "layer": "home", "reasonCode": "unknown"})
	_, err := h.ChangeSettings(t.Context(), "acme.unknown", plugins.SettingsHome)
	require.ErrorIs(t, err, plugins.ErrUnknownPlugin)
}

// A generation reads the settings that it was built with, whatever the file says by now: GEN-8.
func TestSettingsOfAGenerationAreFixed(t *testing.T) {
	t.Parallel()
	home := map[string]any{"name": "first"}
	var kept plugins.Settings
	p := plugin("acme.x", fx.Invoke(func(s plugins.Settings) { kept = s }))
	p.Settings = fields
	h := start(t, plugins.Options{Inputs: func(context.Context) (plugins.Inputs, error) {
		return withSettings(nil, layers{"acme.x": maps.Clone(home)}, nil), nil
	}}, p)
	first := kept
	home["name"] = "second"
	assert.Equal(t, "first", first.Text("name"))
	_, err := h.Quiesce(t.Context(), "acme.x")
	require.NoError(t, err)
	_, err = h.Reconcile(t.Context(), "acme.x")
	require.NoError(t, err)
	assert.Equal(t, "first", first.Text("name"))
	assert.Equal(t, "second", kept.Text("name"), "the next generation reads the file as it is then")
}
