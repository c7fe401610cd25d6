package crystalcmd_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/fx"

	crystalcmd "github.com/crystalkernel/crystal/cmd"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/command"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/status"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"crystal": func() { crystalcmd.Main() },
		// A host with two plugins.
		"acmehost": func() { crystalcmd.Main(lookup("acme.x", "Y"), lookup("acme.y", "")) },
		// The same plugin twice.
		"twicehost": func() { crystalcmd.Main(lookup("acme.x", ""), lookup("acme.x", "")) },
		// Three plugins, of which the second can't start.
		"faultyhost": func() { crystalcmd.Main(lookup("acme.x", ""), faulty, lookup("acme.z", "")) },
		"noisyhost":  func() { crystalcmd.Main(noisy) },
		"ranhost":    func() { crystalcmd.Main(ran) },
		"manyhost":   func() { crystalcmd.Main(many()...) },
		"rarehost":   func() { crystalcmd.Main(rare) },
		// A plugin that changes the prompt, on top of one that adds to it.
		"tonehost": func() { crystalcmd.Main(lookup("acme.x", ""), lookup("acme.y", ""), tone) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("CRYSTAL_HOME", filepath.Join(e.WorkDir, "home"))
			return os.MkdirAll(filepath.Join(e.WorkDir, "ws"), 0o755)
		},
	})
}

// lookup is a plugin with one tool, whose name ends in the last letter of the id, and one command.
func lookup(id, name string) plugins.Plugin {
	last := id[len(id)-1:]
	bash := tool.Registration{
		Definition: tool.Definition{
			ID: "bash", Name: "bash", Description: "Is another bash.", Catalogs: tool.CatalogBoth, InputSchema: []byte(`{"type":"object"}`),
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(context.Context, tool.Invocation) (tool.Result, error) {
			return tool.Text("mine"), nil
		})},
	}
	return plugins.Plugin{
		ID: id, Version: "1.2.0", Name: name,
		Module: fx.Options(
			contrib.Supply(tool.Sources, tool.Fixed(id, tool.Registration{
				Definition: tool.Definition{
					ID: "lookup", Name: "lookup_" + last, Description: "Looks something up.", Catalogs: tool.CatalogBoth,
					InputSchema: []byte(`{"type":"object"}`), Hints: &tool.Hints{ReadOnly: true},
				},
				Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(_ context.Context, i tool.Invocation) (tool.Result, error) {
					return tool.Text("found by " + id + " with " + i.Data.Global), nil
				})},
			}, bash)),
			contrib.Supply(command.Prompts, command.PromptFunc(command.Spec{Name: "find" + last, Description: "Finds"},
				func(_ context.Context, i command.Invocation) (string, bool, error) {
					return "find " + i.Arguments, true, nil
				})),
		),
	}
}

var faulty = plugins.Plugin{
	ID: "acme.faulty", Version: "1.0.0",
	Module: fx.Invoke(func() error { return errors.New("token abc") }),
}

// rare has a tool that a search has to find.
var rare = plugins.Plugin{
	ID: "acme.rare", Version: "1.0.0",
	Module: contrib.Supply(tool.Sources, tool.Fixed("rare", tool.Registration{
		Definition: tool.Definition{
			ID: "rare", Namespace: "acme", Name: "rare", Description: "Is seldom of use.", Catalogs: tool.CatalogBoth,
			InputSchema: []byte(`{"type":"object"}`), Hints: &tool.Hints{ReadOnly: true},
			Exposure: tool.DeferredTool, Deferred: &tool.Deferred{SearchText: "seldom", Namespace: "acme"},
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(context.Context, tool.Invocation) (tool.Result, error) {
			return tool.Text("used"), nil
		})},
	})),
}

// tone replaces a section, adds to the prompt and watches tool calls.
var tone = plugins.Plugin{
	ID: "acme.tone", Version: "1.0.0",
	Module: fx.Options(
		contrib.Supply(prompt.Sections, prompt.SectionFunc("tone", func(context.Context, prompt.Context) (string, error) {
			return "Be \x1b[31mkind.", nil
		}), contrib.ReplaceTarget(prompt.ResponseStyle)),
		contrib.Supply(hook.Prompts, hook.PromptFunc(func(context.Context, hook.PromptInfo, string) (string, error) {
			return "Added.", nil
		}), contrib.Label("adds")),
		contrib.Supply(hook.ToolCalls, hook.ToolCallFunc(func(context.Context, hook.Call) (*hook.Call, error) {
			return nil, nil
		}), contrib.Order(7), contrib.Label("watches")),
		contrib.Supply(command.Prompts, command.PromptFunc(command.Spec{Name: "status"},
			func(context.Context, command.Invocation) (string, bool, error) { return "x", true, nil })),
	),
}

var noisy = plugins.Plugin{
	ID: "acme.noisy", Version: "1.0.0",
	Module: fx.Options(
		fx.Invoke(func(u status.Updates) {
			noise()
			u.Set("build", "green") // FIELD-A17: too early for any screen, and no error
		}),
		contrib.Supply(status.Fields, status.Field{Name: "build"}),
		contrib.Supply(rawhook.RewritePrompts, rawhook.RewritePromptFunc(
			func(context.Context, hook.PromptInfo, string) (*string, error) { return nil, nil })),
		contrib.Supply(host.Attachments, host.AttachedFunc(func(context.Context, host.Environment) error {
			panic("HOST-23")
		})),
		contrib.Supply(host.Attachments, host.AttachedFunc(func(_ context.Context, e host.Environment) error {
			if len(e.Plugins) != 1 || !e.Plugins[0].Loaded {
				return errors.New("the environment is not complete")
			}
			noise()
			return nil
		})),
		contrib.Supply(hook.ToolCalls, hook.ToolCallFunc(func(context.Context, hook.Call) (*hook.Call, error) {
			noise()
			return nil, nil
		})),
	),
}

// kept is what a careless package keeps when it is initialised.
var kept = os.Stdout

func noise() {
	fmt.Println("noise")
	_, _ = os.Stdout.WriteString("noise\n")
	_, _ = kept.WriteString("noise\n")
}

// ran leaves a file behind when its constructor has run.
var ran = plugins.Plugin{
	ID: "acme.ran", Version: "1.0.0",
	Module: fx.Invoke(func(d plugins.DataDirs) error {
		dir, err := d.Home()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "ran"), nil, 0o600)
	}),
}

// manyIDs are the ids of a host with many plugins.
func manyIDs() []string {
	var out []string
	for i := range 8 {
		out = append(out, fmt.Sprintf("a.p%d", i))
	}
	return out
}

func many() []plugins.Plugin {
	var out []plugins.Plugin
	for _, id := range manyIDs() {
		out = append(out, plugins.Plugin{ID: id, Version: "1.0.0"})
	}
	return out
}
