package kernel_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/command"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
)

func addition(f func(text string) (string, error), opts ...contrib.Option) fx.Option {
	return contrib.Supply[hook.Prompt](hook.Prompts,
		hook.PromptFunc(func(_ context.Context, _ hook.PromptInfo, text string) (string, error) { return f(text) }), opts...)
}

func rewriting(f func(text string) (*string, error), opts ...contrib.Option) fx.Option {
	return contrib.Supply[rawhook.RewritePrompt](rawhook.RewritePrompts,
		rawhook.RewritePromptFunc(func(_ context.Context, _ hook.PromptInfo, text string) (*string, error) { return f(text) }), opts...)
}

// assembled is a prompt of that text alone.
func assembled(text string) fx.Option {
	return contrib.Supply[prompt.Assembler](prompt.Assemblers,
		prompt.AssemblerFunc(func(context.Context, string, prompt.Context) (*string, error) { return &text, nil }))
}

// HOOK-1, HOOK-4, HOOK-6
func TestPromptHooksAppend(t *testing.T) {
	shown := 0
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p", assembled("ten letter"),
		addition(func(string) (string, error) { return " A ", nil }),
		addition(func(text string) (string, error) {
			shown = utf8.RuneCountInString(text)
			return "", errors.New("no")
		}, contrib.Label("bad")),
		addition(func(string) (string, error) { return "two", nil }),
		rewriting(func(string) (*string, error) { return nil, nil }),
	)))
	turn := k.Run("go")
	assert.Equal(t, "ten letter\n\nA\n\ntwo", last(k).System)
	assert.Equal(t, 13, shown)
	assert.Equal(t, []string{"acme.p/bad error"}, failures(turn))
	text, ok := k.Thread().Log().System(kernel.ModeWork)
	require.True(t, ok)
	assert.Equal(t, last(k).System, text)
}

// HOOK-3
func TestRawHooksReplaceThePrompt(t *testing.T) {
	blank, final := "  ", "FINAL"
	var seen []string
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		rewriting(func(string) (*string, error) { return &blank, nil }),
		rewriting(func(s string) (*string, error) { seen = append(seen, s); return nil, errors.New("no") }, contrib.Label("bad")),
		rewriting(func(s string) (*string, error) { seen = append(seen, s); return nil, nil }),
		rewriting(func(s string) (*string, error) { seen = append(seen, s); return &final, nil }),
	)))
	turn := k.Run("go")
	assert.Equal(t, []string{blank, blank, blank}, seen)
	assert.Equal(t, final, last(k).System)
	assert.Equal(t, []string{"acme.p/bad error"}, failures(turn))
}

// POINT-10
func TestOnlyTheLastAssemblerIsCalled(t *testing.T) {
	calls := map[string]int{}
	mode := "text"
	assembler := func(name string) fx.Option {
		return contrib.Supply[prompt.Assembler](prompt.Assemblers,
			prompt.AssemblerFunc(func(context.Context, string, prompt.Context) (*string, error) {
				calls[name]++
				switch mode {
				case "nothing":
					return nil, nil
				case "panic":
					panic("x")
				}
				return &name, nil
			}), contrib.Label(name))
	}
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p", assembler("first"), assembler("second"))))
	k.Run("1")
	assert.Equal(t, "second", last(k).System)
	mode = "nothing"
	k.Run("2")
	fallback := last(k).System
	assert.Contains(t, fallback, "You are Crystal")
	mode = "panic"
	turn := k.Run("3")
	assert.Equal(t, fallback, last(k).System)
	assert.Equal(t, []string{"acme.p/second panic"}, failures(turn))
	assert.Equal(t, map[string]int{"second": 3}, calls)
}

// ownPrompt is a source of agent.context that takes everything over.
type ownPrompt struct {
	asked *[]agent.Request
	mode  *string
}

func (s ownPrompt) Provider(_ context.Context, r agent.Request) (agent.Provider, error) {
	*s.asked = append(*s.asked, r)
	if *s.mode == "declines" {
		return nil, nil
	}
	return agent.ProviderFunc(func(_ context.Context, c agent.Context) (*agent.Context, error) {
		switch *s.mode {
		case "fails":
			return nil, errors.New("no")
		case "messages":
			c.Messages = nil
		}
		c.Instructions += "mine"
		return &c, nil
	}), nil
}

// POINT-10, second half: a replacement of the built-in source.
func TestReplacementOfMemoryTakesThePromptOver(t *testing.T) {
	var asked []agent.Request
	mode := ""
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a"}`), say("1")), kerneltest.Tools(abc().tool()),
		kerneltest.Plugins(plugin("acme.p",
			contrib.Supply[agent.Source](agent.Contexts, ownPrompt{asked: &asked, mode: &mode}, contrib.ReplaceTarget(agent.Memory), contrib.Label("own")))))
	k.Run("1")
	assert.Equal(t, "mine", k.Model.Requests()[0].System)
	assert.Equal(t, "mine", k.Model.Requests()[1].System)
	require.Len(t, asked, 1, "materialised: asked once as long as nothing changes")
	assert.Equal(t, agent.Prompt{Tools: []string{"read"}, Mode: kernel.ModeWork}, asked[0].Prompt)

	// Whatever keeps the replacement from an answer, no request is without a prompt.
	for _, mode = range []string{"fails", "messages"} {
		turn := k.Run(mode)
		assert.Contains(t, last(k).System, "You are Crystal", mode)
		assert.Len(t, failures(turn), 1, mode)
	}
	mode = ""
	disable(t, k, "acme.p")
	k.Run("2")
	assert.Contains(t, last(k).System, "You are Crystal")
	assert.NotContains(t, last(k).System, "mine")
}

func TestReplacementThatDeclinesLetsTheBuiltInCompose(t *testing.T) {
	var asked []agent.Request
	mode := "declines"
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		contrib.Supply[agent.Source](agent.Contexts, ownPrompt{asked: &asked, mode: &mode}, contrib.ReplaceTarget(agent.Memory)))))
	k.Run("1")
	assert.Contains(t, last(k).System, "You are Crystal")
}

func TestProvidersRunOnTheResultOfTheOneBefore(t *testing.T) {
	var asked []agent.Request
	mode := ""
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p", assembled("PROMPT"),
		contrib.Supply[agent.Source](agent.Contexts, ownPrompt{asked: &asked, mode: &mode}, contrib.Order(200)),
		contrib.Supply[agent.Source](agent.Contexts, ownPrompt{asked: &asked, mode: &mode}))))
	k.Run("1")
	assert.Equal(t, "PROMPT\n\nminemine", last(k).System, "what stood before the built-in one follows its text")
	turn := k.RunInput(t.Context(), kernel.Input{Text: "2", Instructions: "word for word"})
	assert.Equal(t, "word for word", last(k).System)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
}

// chat counts its requests.
type chat struct{ n *int }

func (c chat) Section(context.Context, prompt.Chat) (string, error) {
	*c.n++
	return "request " + strconv.Itoa(*c.n/2), nil // it changes every other time
}

func (c chat) RuntimeLines(_ context.Context, i prompt.Chat) ([]string, error) {
	return []string{"turn " + i.Turn, " "}, nil
}

func TestChatContextIsReadForEachRequest(t *testing.T) {
	n := 0
	hooked := 0
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a"}`), call("read", `{"path":"b"}`), say("done")),
		kerneltest.Tools(abc().tool()), kerneltest.Plugins(plugin("acme.p",
			contrib.Supply[prompt.ChatContext](prompt.ChatContexts, chat{&n}),
			addition(func(string) (string, error) { hooked++; return "", nil }))))
	k.Run("go")
	var sections []string
	for _, r := range k.Model.Requests() {
		_, rest, ok := strings.Cut(r.System, "request ")
		require.True(t, ok)
		sections = append(sections, rest[:1])
		assert.Equal(t, "go\n\nturn t1", r.Items[0].Text)
	}
	// It is read once more when the prompt of the turn is composed.
	assert.Equal(t, []string{"1", "1", "2"}, sections)
	assert.Equal(t, "go", k.Thread().Log().Items()[0].Text, "the thread is not touched")
	assert.Equal(t, 3, hooked, "composed at the start, and again where the text has changed")
}

// page counts how often it was built.
type contextPage struct {
	key   string
	built *int
	fail  *bool
}

func (p contextPage) PageKey() string { return p.key }
func (p contextPage) Section(_ context.Context, thread string) (string, error) {
	*p.built++
	if *p.fail {
		return "", errors.New("no")
	}
	return "page " + strconv.Itoa(*p.built), nil
}

func TestThreadContextIsBuiltOnceForEachThread(t *testing.T) {
	built, fail := 0, true
	k := kerneltest.Start(t, kerneltest.Script())
	handle, err := prompt.ThreadContexts.Add(k.Registry().Builtin(), contextPage{"p", &built, &fail})
	require.NoError(t, err)
	k.Run("0")
	assert.NotContains(t, last(k).System, "page ", "it failed, and is tried again")
	fail = false
	k.Run("1")
	assert.Contains(t, last(k).System, "page 2")
	k.Run("2")
	assert.Contains(t, last(k).System, "page 2")
	assert.Equal(t, 2, built)
	k.RunOn(t.Context(), k.NewThread(kernel.Options{}), kernel.Input{Text: "other"})
	assert.Contains(t, last(k).System, "page 3")
	k.Thread().RefreshContext()
	k.Run("3")
	assert.Contains(t, last(k).System, "page 4")
	handle.Revoke()
	k.Run("4")
	assert.NotContains(t, last(k).System, "page ")
	handle, err = prompt.ThreadContexts.Add(k.Registry().Builtin(), contextPage{"p", &built, &fail})
	require.NoError(t, err)
	defer handle.Revoke()
	k.Run("5")
	assert.Contains(t, last(k).System, "page 5")
}

// POINT-3
func TestPageOfCommands(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script())
	system := func() string {
		k.Run("x")
		return last(k).System
	}
	before := system()
	assert.Equal(t, before, system())
	handle, err := command.Prompts.Add(k.Registry().Builtin(), command.PromptFunc(
		command.Spec{Name: "triage", Description: "Sorts the queue."},
		func(context.Context, command.Invocation) (string, bool, error) { return "", false, nil }))
	require.NoError(t, err)
	with := system()
	assert.Contains(t, with, "- /triage: Sorts the queue.")
	assert.Equal(t, with, system())
	handle.Revoke()
	assert.Equal(t, before, system())
	assert.Len(t, stored[*threadlog.System](t, k, k.Thread()), 3, "a text is stored when it differs from the last one")
}

// FIELD-C10 and EXT-11, seen from the kernel
func TestTwoPlaceholdersOfOneName(t *testing.T) {
	build := func(name, text string) fx.Option {
		return contrib.Supply(prompt.Placeholders, prompt.PlaceholderFunc(name, func(context.Context, prompt.Binding) (string, error) { return text, nil }))
	}
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(
		plugin("acme.a", build("build", "A"), assembled("{{build}} {{Build}} {{unknown}} {{mode}}")), plugin("acme.b", build("Build", "B"))))
	turn := k.Run("go")
	assert.Equal(t, "A A {{unknown}} work", last(k).System)
	require.Len(t, turn.Notes(), 1)
	assert.Equal(t, "PluginContributionInvalid", turn.Notes()[0].Code)
	assert.Equal(t, "acme.b", turn.Notes()[0].Plugin)
	assert.Equal(t, "duplicate", turn.Notes()[0].Params["reasonCode"])
	assert.Empty(t, k.Run("again").Notes())
}

// FIELD-E8, in one process: equal inputs give equal bytes.
func TestRequestIsTheSameForTheSameState(t *testing.T) {
	var bodies []*model.Request
	for range 2 {
		k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Tools(abc().tool(), reading("b", answering("")), reading("a", answering(""))))
		k.RunOn(t.Context(), mustCreate(t, k), kernel.Input{Text: "go"})
		r := *last(k)
		r.Thread = ""
		bodies = append(bodies, &r)
	}
	assert.Equal(t, bodies[0], bodies[1])
	assert.Equal(t, []string{"a", "b", "read"}, toolNames(bodies[0]), "sorted")
}
