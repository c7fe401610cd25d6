package home_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/plugins"
)

// trees are a home directory and a project tree.
type trees struct {
	home home.Dir
	tree string
}

func newTrees(t *testing.T) trees {
	t.Helper()
	return trees{home.Dir(resolved(t)), filepath.Join(resolved(t), ".crystal")}
}

func (tr trees) manifest(t *testing.T, source, directory, text string) string {
	t.Helper()
	root := string(tr.home)
	if source == "project" {
		root = tr.tree
	}
	return write(t, text, root, "plugins", directory, home.ManifestFile)
}

func (tr trees) discover() home.Discovery {
	return home.Discover(tr.home, tr.tree, home.Known{Compiled: func(id string) bool { return strings.HasPrefix(id, "acme.") }})
}

// enabled returns directory/source of the placements that are on.
func enabled(d home.Discovery) []string {
	out := []string{}
	for _, p := range d.Placements {
		if p.Enabled {
			out = append(out, string(p.Source)+"/"+p.Directory+"="+p.ID)
		}
	}
	return out
}

func TestManifestIsJudgedInOrder(t *testing.T) {
	tests := []struct {
		name, text  string
		code, field string
		says        string
	}{
		{"FIELD-N2 good, with comments", "{ // on\n  \"enabled\": true, /* which */ \"id\": \" Acme.X \",\n}", "", "", ""},
		{"HOST-11 further keys", `{"id": "acme.x", "author": {"name": "x"}, "colour": 3}`, "", "", ""},
		{"FIELD-N4 an unknown key", `{"id": "acme.x", "plugns": false}`, "", "", ""},
		{"HOST-1 broken", "{", "PluginManifestUnreadable", "", ":1:2"},
		{"FIELD-B18 text behind it", `{"enabled":true,"id":"acme.x"} trailing`, "PluginManifestUnreadable", "", ":1:32"},
		{"FIELD-B18 an array", "[]", "PluginManifestUnreadable", "", "must be an object"},
		{"FIELD-B18 nothing", "", "PluginManifestUnreadable", "", "ends too early"},
		{"HOST-8 a word for a boolean", `{"enabled": "yes", "id": 7}`, "PluginManifestInvalid", "enabled", "true or false"},
		{"HOST-10 a slash", `{"id": "acme/core", "runtime": 7, "settings": 7}`, "PluginManifestInvalid", "id", "acme/core"},
		{"HOST-10 blanks", `{"id": "  ", "runtime": 7}`, "PluginManifestInvalid", "id", ""},
		{"no id", `{}`, "PluginManifestInvalid", "id", ""},
		{"FIELD-B16 the wrong case", `{"enabled":true,"id":"acme.x","runtime":"Compiled"}`, "PluginManifestInvalid", "runtime", `allowed: "compiled"`},
		{"a later runtime", `{"id":"acme.x","runtime":"wasm"}`, "PluginRuntimeUnsupported", "runtime", "wasm"},
		{"settings", `{"id":"acme.x","settings":[]}`, "PluginManifestInvalid", "settings", "an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.text, t.TempDir(), "plugin.json")
			m, _, err := home.ReadManifest(path)
			if tt.code == "" {
				require.NoError(t, err)
				assert.Equal(t, "acme.x", m.ID)
				assert.True(t, m.Enabled)
				return
			}
			var broken *home.ManifestError
			require.ErrorAs(t, err, &broken)
			assert.Equal(t, tt.code, string(broken.Code))
			assert.Equal(t, tt.field, broken.Field)
			assert.Contains(t, broken.Text, tt.says)

			changed, err := home.EnableManifest(path, false)
			assert.Error(t, err, "HOST-34: a broken manifest is not changed")
			assert.False(t, changed)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, tt.text, string(after))
		})
	}
}

// HOST-31 and HOST-5: a project directory hides the home directory of its name, whatever its manifest says.
func TestProjectDirectoryHidesTheHomeOne(t *testing.T) {
	tr := newTrees(t)
	tr.manifest(t, "home", "acme", `{"id": "acme.x"}`)
	tr.manifest(t, "project", "acme", `{"id": "acme.x", "enabled": false}`)
	tr.manifest(t, "home", "beta", `{"id": "acme.b"}`)
	d := tr.discover()
	assert.Empty(t, d.Notes)
	assert.Equal(t, []string{"home/beta=acme.b"}, enabled(d))
	require.Len(t, d.Rows, 3)
	var got []string
	for _, r := range d.Rows {
		got = append(got, r.Directory+" "+string(r.Source)+" "+map[bool]string{true: "effective", false: "hidden"}[r.Effective])
	}
	assert.Equal(t, []string{"acme home hidden", "acme project effective", "beta home effective"}, got)

	tr.manifest(t, "project", "acme", `{`)
	d = tr.discover()
	assert.Equal(t, []string{"home/beta=acme.b"}, enabled(d))
	require.Equal(t, []string{"PluginManifestUnreadable"}, codes(d.Notes))
	assert.Equal(t, "project", d.Notes[0].Source)
	assert.Contains(t, d.Notes[0].Text, "acme")
}

// HOST-2, HOST-4, HOST-7, FIELD-A14, FIELD-C11: what gives a note and what does not.
func TestNotesOfDiscovery(t *testing.T) {
	tr := newTrees(t)
	tr.manifest(t, "home", "off", `{"id": "acme.off", "enabled": false}`)
	tr.manifest(t, "home", "builtin", `{"id": "crystal.tools"}`)
	tr.manifest(t, "home", "review", `{"id": "other.review-cor"}`)
	tr.manifest(t, "home", "offother", `{"id": "other.x", "enabled": false}`)
	tr.manifest(t, "home", "brokenoff", `{"id": 7, "enabled": false}`)
	tr.manifest(t, "home", "later", `{"id": "acme.l", "runtime": "process"}`)
	require.NoError(t, os.MkdirAll(tr.home.Path("plugins", "empty"), 0o755))
	require.NoError(t, os.MkdirAll(tr.home.Path("plugins", "1abc"), 0o755))
	write(t, "", tr.home.Path("plugins", "notes.txt"))
	d := tr.discover()
	got := make(map[string]string)
	for _, n := range d.Notes {
		got[n.Directory] = string(n.Code)
	}
	assert.Equal(t, map[string]string{
		"builtin": "PluginReservedId", "review": "PluginNotCompiled", "brokenoff": "PluginManifestInvalid",
		"later": "PluginRuntimeUnsupported", "1abc": "PluginDirectoryInvalid",
	}, got)
	for _, r := range d.Rows {
		if r.Directory == "empty" {
			require.NotNil(t, r.Problem)
			assert.Equal(t, "no manifest", r.Problem.Text)
		}
		if r.Directory == "review" {
			assert.Contains(t, r.Problem.Fix, "crystal build --with")
			assert.Contains(t, r.Problem.Text, "other.review-cor")
		}
	}
	assert.Empty(t, enabled(d))
}

func TestOneIdOfTwoDirectories(t *testing.T) {
	tr := newTrees(t)
	tr.manifest(t, "home", "a", `{"id": "acme.x"}`)
	tr.manifest(t, "home", "b", `{"id": "acme.x"}`)
	d := tr.discover()
	assert.Equal(t, []string{"home/a=acme.x"}, enabled(d))
	assert.Equal(t, []string{"PluginIdConflict"}, codes(d.Notes))

	tr.manifest(t, "project", "z", `{"id": "acme.x"}`)
	d = tr.discover()
	assert.Equal(t, []string{"project/z=acme.x"}, enabled(d))
	assert.Equal(t, []string{"PluginIdConflict", "PluginIdConflict"}, codes(d.Notes))
}

// A plugin that only a hidden or broken directory names is governed by it: it is not on by being compiled in.
func TestHiddenDirectoryStillGovernsItsPlugin(t *testing.T) {
	tr := newTrees(t)
	tr.manifest(t, "home", "acme", `{"id": "acme.x"}`)
	tr.manifest(t, "project", "acme", `{`)
	d := tr.discover()
	require.Len(t, d.Placements, 1)
	assert.Equal(t, "acme.x", d.Placements[0].ID)
	assert.False(t, d.Placements[0].Enabled)
}

// FIELD-L6 and FIELD-C4: links of home are followed, and one directory is one entry.
func TestLinksInHome(t *testing.T) {
	tr, out := newTrees(t), resolved(t)
	write(t, `{"id": "acme.p"}`, out, "src", "p", home.ManifestFile)
	tr.manifest(t, "home", "a", `{"id": "acme.a"}`)
	require.NoError(t, os.Symlink(filepath.Join(out, "src", "p"), tr.home.Path("plugins", "p")))
	require.NoError(t, os.Symlink(tr.home.Path("plugins", "a"), tr.home.Path("plugins", "b")))
	d := tr.discover()
	assert.Equal(t, []string{"home/a=acme.a", "home/p=acme.p"}, enabled(d))
	require.Len(t, d.Notes, 1)
	assert.Equal(t, "b", d.Notes[0].Directory)
}

func TestLinkOutOfTheProjectIsNotFollowed(t *testing.T) {
	tr, out := newTrees(t), resolved(t)
	write(t, `{"id": "acme.p"}`, out, "p", home.ManifestFile)
	require.NoError(t, os.MkdirAll(filepath.Join(tr.tree, "plugins"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(out, "p"), filepath.Join(tr.tree, "plugins", "p")))
	d := tr.discover()
	assert.Empty(t, enabled(d))
	assert.Equal(t, []string{"ProjectTreeIgnored"}, codes(d.Notes))
}

func TestPlacementCarriesTheSettings(t *testing.T) {
	tr := newTrees(t)
	tr.manifest(t, "home", "a", `{"id": "ACME.A", "settings": {"depth": 3, /* c */ "url": "u",}}`)
	d := tr.discover()
	require.Len(t, d.Placements, 1)
	assert.Equal(t, plugins.Placement{
		ID: "acme.a", Directory: "a", Source: plugins.SourceHome, Enabled: true,
		Settings: map[string]any{"depth": 3.0, "url": "u"},
	}, d.Placements[0])
}

// HOST-32: only the switch changes; what is already so stays as it is.
func TestEnableManifestChangesTheSwitchAlone(t *testing.T) {
	const text = "{ // on\n     \"enabled\": true, /* which */ \"id\": \"acme.x\",\n  \"colour\" : 3 }"
	path := write(t, text, t.TempDir(), "plugin.json")
	changed, err := home.EnableManifest(path, false)
	require.NoError(t, err)
	assert.True(t, changed)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(text, "true", "false", 1), string(got))
	changed, err = home.EnableManifest(path, false)
	require.NoError(t, err)
	assert.False(t, changed)

	path = write(t, `{"id": "acme.x"}`, t.TempDir(), "plugin.json")
	changed, err = home.EnableManifest(path, true)
	require.NoError(t, err)
	assert.False(t, changed, "on is the default")
}

func TestDisablePluginWritesTheListOnce(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.json")
	for i, want := range []bool{true, false} {
		changed, err := home.DisablePlugin(config, "acme.x", true)
		require.NoError(t, err)
		assert.Equal(t, want, changed, i)
	}
	write(t, "{\n  \"disabledPlugins\": [\"ACME.X\", \"b.c\"] // mine\n}", config)
	changed, err := home.DisablePlugin(config, "acme.x", false)
	require.NoError(t, err)
	assert.True(t, changed)
	got, err := os.ReadFile(config)
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"disabledPlugins\": [\"b.c\"] // mine\n}", string(got))
}
