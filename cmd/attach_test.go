package crystalcmd_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	crystalcmd "github.com/crystalkernel/crystal/cmd"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/status"
	"github.com/crystalkernel/crystal/points/tool"
)

// with runs a command line in a host with plugins.
func (p place) with(list []plugins.Plugin, args ...string) crystalcmd.Outcome {
	env := map[string]string{"CRYSTAL_HOME": p.home}
	return crystalcmd.Run(context.Background(), list, nil, env, append([]string{"-C", p.ws}, args...)...)
}

func (p place) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(filepath.Dir(p.home), name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// attached contributes to host.attached.
func attached(f func(host.Environment) error) fx.Option {
	return contrib.Supply(host.Attachments, host.AttachedFunc(func(_ context.Context, e host.Environment) error { return f(e) }))
}

// sessions is told of the start of sessions.
type sessions func(ctx context.Context)

func (s sessions) SessionStarted(ctx context.Context, _ hook.Session) error {
	s(ctx)
	return nil
}

func (s sessions) SessionEnded(context.Context, hook.Session) error { return nil }

// HOST-23
func TestAttachedContributionThatPanicsCostsANote(t *testing.T) {
	p := newPlace(t)
	var log []string
	say := func(line string) { log = append(log, line) }
	first := lookup("acme.x", "")
	first.Module = fx.Options(first.Module,
		attached(func(host.Environment) error { say("first attached"); panic("secret-1") }),
		contrib.Supply(hook.Sessions, hook.SessionObserver(sessions(func(context.Context) { say("session") }))),
		contrib.Supply(hook.ToolCalls, hook.ToolCallFunc(func(context.Context, hook.Call) (*hook.Call, error) {
			say("hook")
			return nil, nil
		})))
	second := plugins.Plugin{ID: "acme.y", Version: "1.0.0", Module: attached(func(e host.Environment) error {
		say("second attached")
		if len(e.Plugins) != 2 || !e.Plugins[0].Loaded || !e.Plugins[1].Loaded {
			return errors.New("the environment is not complete")
		}
		return nil
	})}
	o := p.with([]plugins.Plugin{first, second}, "run", "--json", "use lookup_x {}")
	assert.Equal(t, 0, o.Exit, o.Stderr)
	assert.Equal(t, []string{"first attached", "second attached", "session", "hook"}, log)
	assert.Equal(t, 1, strings.Count(o.Stdout, `"code":"ContributionCallFailed"`), o.Stdout)
	assert.Contains(t, o.Stdout, "acme.x failed at host.attached (panic)")
	assert.Contains(t, o.Stdout, "found by acme.x")
	assert.NotContains(t, o.Stdout+o.Stderr, "secret-1")
}

// HOST-24
func TestDataDirectoriesAreThereBeforeConstructors(t *testing.T) {
	p := newPlace(t)
	p.write(t, "home/plugins/acme/plugin.json", `{"id": "acme.x"}`)
	got := map[string][]string{}
	asks := fx.Invoke(func(f plugins.Facts, d plugins.DataDirs) error {
		home, err := d.Home()
		ws, wrong := d.Workspace()
		for _, dir := range []string{home, ws} {
			info, err := os.Stat(dir)
			if err != nil {
				return err
			}
			assert.True(t, info.IsDir())
		}
		got[f.ID] = []string{home, ws}
		return errors.Join(err, wrong)
	})
	list := []plugins.Plugin{{ID: "acme.x", Version: "1.0.0", Module: asks}, {ID: "b.c", Version: "1.0.0", Module: asks}}
	o := p.with(list, "run", "--json", "hi")
	assert.Equal(t, 0, o.Exit, o.Stderr)
	ws, err := filepath.EvalSymlinks(p.ws)
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{
		"acme.x": {filepath.Join(p.home, "data", "plugins", "acme"), filepath.Join(ws, ".crystal", "data", "plugins", "acme")},
		"b.c":    {filepath.Join(p.home, "data", "plugins", "b.c"), filepath.Join(ws, ".crystal", "data", "plugins", "b.c")},
	}, got)
}

// HOST-25, and what the facts say about the session of a run.
func TestFactsOfARun(t *testing.T) {
	const providers = `{"providers": {"acme": {"protocol": "offline", "models": {"large": {"contextWindow": 200000, "maxTokens": 500}, "judge": {}}}}}`
	for name, c := range map[string]struct {
		config string
		args   []string
		want   model.ReviewFacts
	}{
		"switched off": {`{"approvalModel": {"enabled": false, "provider": "acme", "model": "judge"}}`, nil, model.ReviewFacts{}},
		"switched on":  {`{"approvalModel": {"enabled": true, "provider": "acme", "model": "judge", "thinkingEffort": "HIGH"}}`, nil, judge("high")},
		"no model":     {`{"approvalModel": {"enabled": true, "provider": "acme"}}`, nil, model.ReviewFacts{}},
		"no provider of its own": {
			`{"provider": "acme", "approvalModel": {"enabled": true, "model": "judge"}}`, nil, judge("default"),
		},
		"by an option": {`{}`, []string{"--approval-provider", "acme", "--approval-model-id", "judge"}, judge("default")},
		"off by an option": {
			`{"approvalModel": {"enabled": true, "provider": "acme", "model": "judge"}}`, []string{"--approval-model", "off"}, model.ReviewFacts{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, "home/providers.json", providers)
			p.write(t, "home/config.json", c.config)
			var early, session, turn model.Description
			var review model.ReviewFacts
			reader := plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: fx.Options(
				fx.Invoke(func(f model.Facts, r *contrib.Registrar) error {
					early = f.Session(context.Background())
					_, err := hook.Sessions.Add(r, sessions(func(ctx context.Context) { session, review = f.Session(ctx), f.Review() }))
					if err == nil {
						_, err = hook.UserMessages.Add(r, hook.UserMessageFunc(func(ctx context.Context, _ hook.Scope, _ string) (string, bool, error) {
							turn = f.Session(ctx)
							return "", false, nil
						}))
					}
					return err
				}))}
			o := p.with([]plugins.Plugin{reader}, append([]string{"run", "--json", "-m", "acme/large", "--thinking", "low", "hi"}, c.args...)...)
			assert.Equal(t, 0, o.Exit, o.Stderr)
			want := model.Description{
				Provider: "acme", Protocol: "offline", Model: "large", ContextWindow: 200000, MaxTokens: 500, ImageInput: true, Gear: "low",
			}
			assert.Zero(t, early)
			assert.Equal(t, want, session)
			assert.Equal(t, want, turn)
			assert.Equal(t, c.want, review)
			assert.NotContains(t, o.Stdout, "PluginModelClients")
		})
	}
}

func judge(gear string) model.ReviewFacts {
	return model.ReviewFacts{Independent: true, Model: model.Description{
		Provider: "acme", Protocol: "offline", Model: "judge", ContextWindow: 128000, ImageInput: true, Gear: gear,
	}}
}

func TestPluginThatCanCallTheModelsIsAnnounced(t *testing.T) {
	p := newPlace(t)
	caller := plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: contrib.Provide(tool.Sources, func(clients model.Clients) tool.Source {
		return tool.Fixed("x", tool.Registration{
			Definition: tool.Definition{
				ID: "echo", Name: "echo", Description: "Asks.", Catalogs: tool.CatalogBoth, InputSchema: []byte(`{"type":"object"}`),
				Hints: &tool.Hints{ReadOnly: true},
			},
			Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
				c, err := clients.Session(ctx)
				if err != nil {
					return tool.Result{}, err
				}
				answer, err := c.Round(ctx, &model.Request{Items: []*model.Item{{Kind: model.Message, Role: model.User, Text: "think x"}}},
					func(model.Delta) error { return nil })
				if err != nil {
					return tool.Result{}, err
				}
				return tool.Text(answer.Items[len(answer.Items)-1].Text), nil
			})},
		})
	})}
	o := p.with([]plugins.Plugin{caller}, "run", "--json", "use echo {}")
	assert.Equal(t, 0, o.Exit, o.Stderr)
	assert.Equal(t, 1, strings.Count(o.Stdout, `"code":"PluginModelClients"`), o.Stdout)
	assert.Contains(t, o.Stdout, "the plugin acme.x can call the models")
	assert.Contains(t, o.Stdout, "Thought about it.")
	logs := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(p.home, "threads"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "use echo") {
			logs++
		}
		assert.NotContains(t, string(text), "think x", "the plugin's question is no part of the thread")
		return err
	}))
	assert.NotZero(t, logs)
}

// STATUS-1 and FIELD-A17 on the way through a whole run: what is left out is noted, and a text that came too early is none.
func TestStatusFieldsOfARun(t *testing.T) {
	p := newPlace(t)
	options := []fx.Option{fx.Invoke(func(u status.Updates) {
		u.Set("build", "green")
		u.Set("tests", "none")
	})}
	for _, name := range []string{"Build--x", "on", "model", "9a", "Build"} {
		options = append(options, contrib.Supply(status.Fields, status.Field{Name: name}))
	}
	o := p.with([]plugins.Plugin{{ID: "acme.x", Version: "1.0.0", Module: fx.Options(options...)}}, "run", "--json", "hi")
	assert.Equal(t, 0, o.Exit, o.Stderr)
	assert.Equal(t, 4, strings.Count(o.Stdout, `"code":"PluginContributionInvalid"`), o.Stdout)
	assert.Equal(t, 1, strings.Count(o.Stdout, `"code":"StatusFieldUnknown"`))
	assert.Contains(t, o.Stdout, `no status field \"tests\"`)
}

// The environment lists tool sets, and the tools of those that loaded.
func TestAttachedEnvironmentListsToolSets(t *testing.T) {
	p := newPlace(t)
	p.write(t, "home/tools/b/tools.json", `{"runner": "exec", "command": ["true"], "tools": [
		{"name": "one", "description": "x", "schema": {}}, {"name": "two", "description": "x", "schema": {}, "catalogs": ["work"]}]}`)
	p.write(t, "home/tools/a/tools.json", `{"enabled": false, "runner": "exec", "command": ["true"], "description": "x", "schema": {}}`)
	p.write(t, "home/tools/c/tools.json", `{"runner": "go"}`)
	var got host.Environment
	plugin := plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: attached(func(e host.Environment) error { got = e; return nil })}
	require.Zero(t, p.with([]plugins.Plugin{plugin}, "run", "hi").Exit)
	on, off := true, false
	require.Len(t, got.ToolSets, 3)
	assert.Equal(t, host.ToolSet{Directory: "a", Source: "home", Enabled: &off, Effective: true}, got.ToolSets[0])
	assert.Equal(t, host.ToolSet{Directory: "b", Source: "home", Enabled: &on, Effective: true, Loaded: true}, got.ToolSets[1])
	assert.Contains(t, got.ToolSets[2].SkipReason, "compiled plugin")
	assert.Equal(t, []host.ExternalTool{
		{Name: "one", Set: "b", Source: "home", Plan: true, Work: true}, {Name: "two", Set: "b", Source: "home", Work: true},
	}, got.ExternalTools)
}

// HOST-12
func TestPluginsLoadHostThenProjectThenHome(t *testing.T) {
	p := newPlace(t)
	p.write(t, "home/plugins/b/plugin.json", `{"id": "acme.b"}`)
	p.write(t, "ws/.crystal/plugins/a/plugin.json", `{"id": "acme.a"}`)
	var order []string
	one := func(id string) plugins.Plugin {
		return plugins.Plugin{ID: id, Version: "1.0.0", Module: fx.Invoke(func() { order = append(order, id) })}
	}
	list := []plugins.Plugin{one("acme.a"), one("acme.b"), one("c.host")}
	require.Zero(t, p.with(list, "run", "--workspace-trust", "on", "hi").Exit)
	assert.Equal(t, []string{"c.host", "acme.a", "acme.b"}, order)
}
