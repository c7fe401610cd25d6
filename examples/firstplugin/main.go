// Firstplugin shows the heart of Crystal in one turn: a plugin adds a tool and a slash command (tier A), a second one
// replaces a built-in section of the prompt (tier B), a third takes over the assembled prompt (tier C). Then the first two
// are disabled while the turn runs: the call from the turn's frozen tools answers tool_unavailable, the built-in section is
// back, and the turn ends well.
//
//	go run ./examples/firstplugin
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/command"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/tool"
)

var greeter = plugins.Plugin{
	ID: "acme.greeter", Version: "1.0.0",
	Module: fx.Options(
		contrib.Supply(tool.Sources, tool.Fixed("acme.greeter", tool.Registration{
			Definition: tool.Definition{
				ID: "greet", Name: "greet", Description: "Greets somebody.", Catalogs: tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
				InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
			},
			Binding: tool.Binding{Runtime: tool.RuntimeFunc(greet)},
		})),
		contrib.Supply(command.Prompts, command.PromptFunc(command.Spec{Name: "hello", Description: "Greets somebody"}, hello)),
	),
}

func greet(_ context.Context, i tool.Invocation) (tool.Result, error) {
	var arguments struct{ Name string }
	if err := json.Unmarshal(i.Arguments, &arguments); err != nil {
		return tool.Failed("acme_bad_name", err.Error()), nil
	}
	return tool.Text("Hello, " + arguments.Name + "!"), nil
}

func hello(_ context.Context, i command.Invocation) (string, bool, error) {
	return "Greet " + i.Arguments + " with the tool greet.", true, nil
}

var tone = plugins.Plugin{
	ID: "acme.tone", Version: "1.0.0",
	Module: contrib.Supply(prompt.Sections, prompt.SectionFunc("tone", func(context.Context, prompt.Context) (string, error) {
		return "Answer in one line.", nil
	}), contrib.ReplaceTarget(prompt.ResponseStyle)),
}

var banner = plugins.Plugin{
	ID: "acme.banner", Version: "1.0.0",
	Module: contrib.Supply(prompt.Assemblers, prompt.AssemblerFunc(
		func(_ context.Context, assembled string, _ prompt.Context) (*string, error) {
			text := "ACME HOUSE RULES APPLY\n\n" + assembled
			return &text, nil
		})),
}

// script stands for a model: it calls greet twice, and what happens between the two calls is up to between.
type script struct{ between func() }

func (s *script) CanCreate(protocol string) bool { return protocol == "script" }
func (s *script) Create(context.Context, model.ClientRequest) (model.Client, error) {
	return s, nil
}

func (s *script) CreateMultimodal(context.Context, model.ClientRequest) (model.Client, error) {
	return nil, nil
}

func (s *script) Round(_ context.Context, r *model.Request, _ func(model.Delta) error) (*model.Response, error) {
	fmt.Printf("  prompt: banner %t, own style %t, built-in style %t\n", strings.HasPrefix(r.System, "ACME HOUSE RULES"),
		strings.Contains(r.System, "Answer in one line."), strings.Contains(r.System, "# How to answer"))
	calls := 0
	for _, it := range r.Items {
		if it.Kind == model.ToolCall {
			calls++
		}
	}
	if calls == 1 {
		s.between()
	}
	if len(r.Tools) > 0 && calls < 2 {
		call := &model.Item{Kind: model.ToolCall, Name: "greet", CallID: fmt.Sprint("c", calls+1), Arguments: `{"name":"Ada"}`}
		return &model.Response{Items: []*model.Item{call}, Finish: model.FinishToolCalls}, nil
	}
	reply := &model.Item{Kind: model.Message, Role: model.Assistant, Text: "That is all."}
	return &model.Response{Items: []*model.Item{reply}, Finish: model.FinishStop}, nil
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "firstplugin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var k *kernel.Kernel
	var running *plugins.Runtime
	s := &script{}
	app := fx.New(fx.NopLogger, kernel.Module, fx.Replace(kernel.Config{Logger: slog.New(slog.DiscardHandler)}),
		plugins.Module(greeter, tone, banner),
		contrib.Supply[model.ClientFactory](model.Protocols, s), fx.Populate(&k, &running))
	if err := app.Start(ctx); err != nil {
		return err
	}
	defer app.Stop(ctx)
	s.between = func() {
		for _, id := range []string{greeter.ID, tone.ID} {
			if _, err := running.SetEnabled(ctx, id, false, plugins.ScopeProcess); err != nil {
				fmt.Println("disable:", err)
			}
		}
		fmt.Println("-- disabled acme.greeter and acme.tone --")
	}
	thread, err := k.Create(ctx, kernel.Options{Model: "script/any", Approval: kernel.ApprovalFull})
	if err != nil {
		return err
	}
	for n, text := range []string{"/hello Ada", "again"} {
		if expanded, ok, err := k.Expand(ctx, thread, text); err != nil {
			return err
		} else if ok {
			text = expanded
		}
		fmt.Printf("turn %d: %s\n", n+1, text)
		if err := play(thread.Start(ctx, kernel.Input{Text: text})); err != nil {
			return err
		}
	}
	return nil
}

func play(turn *kernel.Turn) error {
	for e := range turn.Events() {
		switch e := e.(type) {
		case kernel.CallEnded:
			fmt.Printf("  %s: %s\n", e.Name, e.Text)
		case kernel.TurnEnded:
			fmt.Printf("  %s (%s)\n", e.Text, e.Stop)
		}
	}
	_, err := turn.Wait()
	return err
}
