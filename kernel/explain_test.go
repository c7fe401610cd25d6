package kernel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/thread"
)

// section is a contributed section of the prompt.
func section(name, text string, opts ...contrib.Option) fx.Option {
	return contrib.Supply(prompt.Sections, prompt.SectionFunc(name, func(context.Context, prompt.Context) (string, error) {
		if text == "fails" {
			return "", errors.New("no")
		}
		return text, nil
	}), opts...)
}

func explainPrompt(t testing.TB, k *kerneltest.Kernel, id string) *kernel.ExplainedPrompt {
	t.Helper()
	p, err := k.ExplainPrompt(t.Context(), id, kernel.Options{})
	require.NoError(t, err)
	sum := 0
	for _, part := range p.Parts {
		sum += part.Bytes
	}
	assert.Equal(t, len(p.Text), sum, "the bytes of the parts are those of the prompt")
	return p
}

// part finds what is explained under a name, as kind, what it lost by and to whom, whom it beats, and bytes.
func part(p *kernel.ExplainedPrompt, name string) (found []kernel.PromptPart) {
	for _, one := range p.Parts {
		if one.Name == name {
			one.Owner, _, _ = strings.Cut(one.Owner, "@")
			one.LostTo, _, _ = strings.Cut(one.LostTo, "@")
			found = append(found, one)
		}
	}
	return found
}

func TestExplainedPromptIsThatOfTheNextTurn(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), hosted([]string{"help"}, "user:deploy"), kerneltest.Plugins(plugin("acme.p",
		section("own", "I say {{mode}}.", contrib.Order(450)), section("style", "Shout.", contrib.ReplaceTarget(prompt.ResponseStyle)),
		section("blank", " \n"), section("bad", "fails", contrib.Label("bad")),
		addition(func(string) (string, error) { return "Added.", nil }, contrib.Label("add")),
		addition(func(string) (string, error) { return "", errors.New("no") }, contrib.Label("broken")),
		rewriting(func(s string) (*string, error) { s = strings.ReplaceAll(s, "Shout.", "Sh."); return &s, nil }, contrib.Label("raw")),
	)))
	th := k.Thread()
	p := explainPrompt(t, k, th.ID())
	turn := k.Run("go")
	assert.Equal(t, last(k).System, p.Text)
	assert.Equal(t, p.Text, explainPrompt(t, k, th.ID()).Text, "in a thread with turns too")
	assert.NotEmpty(t, failures(turn), "an explanation takes no note away")

	own := part(p, "own")[0]
	assert.Equal(t, kernel.SectionPart, own.Kind)
	assert.Equal(t, "plugin:acme.p", own.Owner)
	assert.Equal(t, []int{450, len("I say {{mode}}.")}, []int{own.Order, own.Bytes})
	placeholders := 0
	for _, one := range p.Parts {
		if one.Kind == kernel.PlaceholdersPart {
			placeholders = one.Bytes
		}
	}
	assert.Equal(t, len("work")-len("{{mode}}"), placeholders)
	style := part(p, "style")[0]
	assert.Equal(t, []string{"builtin"}, style.Beats)
	assert.Equal(t, prompt.ResponseStyle, style.Replaces)
	was := part(p, prompt.ResponseStyle)[0]
	assert.Equal(t, kernel.LostShadowed, was.Lost)
	assert.Equal(t, "plugin:acme.p", was.LostTo)
	assert.Zero(t, was.Bytes)
	assert.Equal(t, kernel.LostBlank, part(p, "blank")[0].Lost)
	bad := part(p, "bad")[0]
	assert.Equal(t, []string{string(kernel.LostFailed), "error"}, []string{string(bad.Lost), bad.Detail})
	assert.Equal(t, len("\n\nAdded."), part(p, "add")[0].Bytes)
	assert.Equal(t, kernel.LostFailed, part(p, "broken")[0].Lost)
	assert.Equal(t, -3, part(p, "raw")[0].Bytes)

	disable(t, k, "acme.p")
	after := explainPrompt(t, k, th.ID())
	k.Run("again")
	assert.Equal(t, last(k).System, after.Text)
	assert.Empty(t, part(after, prompt.ResponseStyle)[0].Lost, "the default is back")
	assert.Empty(t, part(after, "own"))
}

func TestExplanationSaysWhoTookThePromptOver(t *testing.T) {
	whole := false
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		contrib.Supply[prompt.Assembler](prompt.Assemblers, prompt.AssemblerFunc(
			func(_ context.Context, text string, _ prompt.Context) (*string, error) {
				if whole {
					text += " more"
				} else {
					text = "mine"
				}
				return &text, nil
			}), contrib.Label("all")),
		contrib.Supply[prompt.Assembler](prompt.Assemblers, prompt.AssemblerFunc(
			func(context.Context, string, prompt.Context) (*string, error) { return nil, nil }), contrib.Label("earlier"), contrib.Order(-1)))))
	p := explainPrompt(t, k, k.Thread().ID())
	assert.Equal(t, "mine", p.Text)
	identity := part(p, prompt.Identity)[0]
	assert.Equal(t, kernel.LostTakenOver, identity.Lost)
	assert.Equal(t, "plugin:acme.p", identity.LostTo)
	assert.Equal(t, 4, part(p, "all")[0].Bytes)
	assert.Equal(t, kernel.LostShadowed, part(p, "earlier")[0].Lost, "only the last is called")
	whole = true
	p = explainPrompt(t, k, k.Thread().ID())
	assert.Empty(t, part(p, prompt.Identity)[0].Lost)
	assert.Equal(t, len(" more"), part(p, "all")[0].Bytes)
}

func TestExplanationKnowsProvidersOfTheContext(t *testing.T) {
	var asked []agent.Request
	mode := ""
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		contrib.Supply[agent.Source](agent.Contexts, ownPrompt{asked: &asked, mode: &mode}, contrib.ReplaceTarget(agent.Memory), contrib.Label("own")))))
	explained := func(want string) *kernel.ExplainedPrompt {
		p := explainPrompt(t, k, k.Thread().ID())
		k.Run("go")
		assert.Equal(t, last(k).System, p.Text)
		assert.Contains(t, p.Text, want)
		return p
	}
	p := explained("mine")
	assert.Equal(t, kernel.LostTakenOver, part(p, prompt.Identity)[0].Lost)
	assert.Equal(t, 4, part(p, "own")[0].Bytes)
	assert.Equal(t, kernel.LostShadowed, part(p, agent.Memory)[0].Lost)
	mode = "fails"
	p = explained("You are Crystal")
	assert.Empty(t, part(p, prompt.Identity)[0].Lost)
	assert.Equal(t, kernel.LostFailed, part(p, "own")[0].Lost)
	assert.Zero(t, part(p, "own")[0].Bytes)
}

// threadCounter counts the threads that it is told of.
type threadCounter struct{ told *int }

func (w threadCounter) Started(context.Context, thread.Info) error  { *w.told++; return nil }
func (w threadCounter) Resumed(context.Context, thread.Info) error  { *w.told++; return nil }
func (w threadCounter) Deleting(context.Context, thread.Info) error { *w.told++; return nil }

func TestNobodyIsToldOfAnExplanation(t *testing.T) {
	told := 0
	k := kerneltest.Start(t, kerneltest.Script(), contrib.Supply[thread.Observer](thread.Observers, threadCounter{&told}),
		contrib.Supply[hook.SessionObserver](hook.Sessions, sessionCounter{&told}))
	th := k.NewThread(kernel.Options{Mode: kernel.ModePlan})
	handle, err := prompt.Sections.Add(k.Registry().Builtin(), prompt.SectionFunc("scoped",
		func(context.Context, prompt.Context) (string, error) { return "of this thread", nil }), contrib.InThread(contrib.ThreadID(th.ID())))
	require.NoError(t, err)
	defer handle.Revoke()
	k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	sent := last(k).System
	require.NoError(t, th.Close(t.Context()))
	before := told
	stored := len(records(t, k, th))

	p := explainPrompt(t, k, th.ID())
	assert.Equal(t, sent, p.Text, "a stored thread is explained in its own mode and with what belongs to it")
	assert.Equal(t, th.ID(), part(p, "scoped")[0].Thread)
	work, err := k.ExplainPrompt(t.Context(), th.ID(), kernel.Options{Mode: kernel.ModeWork})
	require.NoError(t, err)
	assert.NotContains(t, work.Text, "# Mode: plan")
	assert.Empty(t, part(explainPrompt(t, k, ""), "scoped"), "a new thread has none of it")
	assert.Equal(t, before, told)
	assert.Len(t, records(t, k, th), stored)
	again, err := k.Open(t.Context(), th.ID(), kernel.Options{})
	require.NoError(t, err)
	k.RunOn(t.Context(), again, kernel.Input{Text: "on"})
	assert.Equal(t, sent, last(k).System)

	_, err = k.ExplainPrompt(t.Context(), "", kernel.Options{Mode: "review"})
	require.ErrorIs(t, err, kernel.ErrMode)
	_, err = k.ExplainTools(t.Context(), "nosuch", kernel.Options{})
	require.Error(t, err)
}

type sessionCounter struct{ n *int }

func (s sessionCounter) SessionStarted(context.Context, hook.Session) error { *s.n++; return nil }
func (s sessionCounter) SessionEnded(context.Context, hook.Session) error   { *s.n++; return nil }

func TestExplanationWaitsForTheRunningTurn(t *testing.T) {
	var k *kerneltest.Kernel
	var got error
	k = kerneltest.Start(t, kerneltest.Script(kerneltest.Step{Text: "ok"}),
		contrib.Supply[hook.TurnObserver](hook.Turns, turnStarting{func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			_, got = k.ExplainPrompt(ctx, k.Thread().ID(), kernel.Options{})
		}}))
	k.Run("go")
	require.ErrorIs(t, got, context.DeadlineExceeded)
	explainPrompt(t, k, k.Thread().ID())
}

type turnStarting struct{ do func() }

func (s turnStarting) TurnStarted(context.Context, hook.Turn) error  { s.do(); return nil }
func (s turnStarting) TurnFinished(context.Context, hook.Turn) error { return nil }

func TestExplainedHooksComeInTheOrderOfATurn(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		addition(func(string) (string, error) { return "late", nil }, contrib.Order(5), contrib.Label("second")),
		addition(func(string) (string, error) { return "early", nil }, contrib.Label("first"), contrib.Deadline(3*time.Second)),
		contrib.Supply[hook.ToolCall](hook.ToolCalls, hook.ToolCallFunc(func(context.Context, hook.Call) (*hook.Call, error) { return nil, nil })))))
	hooks, err := k.ExplainHooks(t.Context(), k.Thread().ID(), kernel.Options{})
	require.NoError(t, err)
	var points []string
	for _, h := range hooks {
		points = append(points, h.Point)
		switch h.Point {
		case "hook.prompt":
			require.Len(t, h.Entries, 2)
			assert.Equal(t, []string{"first", "second"}, []string{h.Entries[0].Label, h.Entries[1].Label})
			assert.Equal(t, []string{"3s", "10s"}, []string{h.Entries[0].Deadline, h.Entries[1].Deadline})
			assert.Equal(t, len("\n\nearly"), *h.Entries[0].Bytes)
		case "hook.tool_call":
			require.Len(t, h.Entries, 1)
			assert.Nil(t, h.Entries[0].Bytes, "it depends on the turn")
		default:
			assert.Empty(t, h.Entries, h.Point)
		}
	}
	var all []string
	for _, p := range k.Registry().Points() {
		if strings.HasPrefix(p.Name(), "hook.") || strings.HasPrefix(p.Name(), "rawhook.") {
			all = append(all, p.Name())
		}
	}
	assert.ElementsMatch(t, all, points, "every hook point has its place")
}

func TestExplainedCommandsCostTheirLines(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), hosted([]string{"help"}, "user:deploy"), promptCommand("go", saying("x"), contrib.Order(3)))
	commands, err := k.ExplainCommands(t.Context(), "", kernel.Options{})
	require.NoError(t, err)
	require.Len(t, commands, 3)
	assert.Equal(t, kernel.VerbCommand, commands[0].Kind)
	assert.Zero(t, commands[0].Bytes)
	assert.Equal(t, []string{"deploy", "go"}, []string{commands[1].Name, commands[2].Name})
	assert.Equal(t, []int{len("\n- /deploy"), len("\n- /go")}, []int{commands[1].Bytes, commands[2].Bytes})
	assert.Equal(t, 3, commands[2].Order)
	handle, err := prompt.Sections.Add(k.Registry().Builtin(), prompt.SectionFunc("none", func(context.Context, prompt.Context) (string, error) {
		return "", nil
	}), contrib.ReplaceTarget(prompt.CustomCommands))
	require.NoError(t, err)
	defer handle.Revoke()
	commands, err = k.ExplainCommands(t.Context(), "", kernel.Options{})
	require.NoError(t, err)
	assert.Zero(t, commands[2].Bytes, "the model is not told")
}

// Whatever is contributed, the explanation shows the prompt that is sent, and its parts sum up to it.
func TestExplanationNeverLies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{"", "fails", "A", "{{mode}}", "A\n\n---\n\nB"})
		var opts []contrib.Option
		k := kerneltest.Start(t, kerneltest.Script())
		module, err := k.Registry().Builtin().Module("m")
		require.NoError(rt, err)
		answer := func(s string) (*string, error) {
			switch s {
			case "":
				return nil, nil
			case "fails":
				return nil, errors.New("no")
			}
			return &s, nil
		}
		for range rapid.IntRange(0, 6).Draw(rt, "contributions") {
			said := text.Draw(rt, "text")
			opts = []contrib.Option{contrib.Order(rapid.IntRange(0, 2000).Draw(rt, "order"))}
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				if target := rapid.SampledFrom([]string{"", prompt.Identity, prompt.WorkingStyle}).Draw(rt, "target"); target != "" {
					opts = append(opts, contrib.ReplaceTarget(target))
				}
				_, err = prompt.Sections.Add(module, prompt.SectionFunc("s", func(context.Context, prompt.Context) (string, error) {
					s, err := answer(said)
					if s == nil {
						return "", err
					}
					return *s, nil
				}), opts...)
			case 1:
				_, err = prompt.Assemblers.Add(module, prompt.AssemblerFunc(
					func(_ context.Context, all string, _ prompt.Context) (*string, error) { return answer(said) }), opts...)
			case 2:
				_, err = hook.Prompts.Add(module, hook.PromptFunc(func(context.Context, hook.PromptInfo, string) (string, error) {
					s, err := answer(said)
					if s == nil {
						return "", err
					}
					return *s, nil
				}), opts...)
			case 3:
				_, err = rawhook.RewritePrompts.Add(module, rawhook.RewritePromptFunc(
					func(context.Context, hook.PromptInfo, string) (*string, error) { return answer(said) }), opts...)
			case 4:
				if rapid.Bool().Draw(rt, "memory") {
					opts = append(opts, contrib.ReplaceTarget(agent.Memory))
				}
				_, err = agent.Contexts.Add(module, agent.SourceFunc(func(context.Context, agent.Request) (agent.Provider, error) {
					if said == "A" {
						return nil, nil
					}
					return agent.ProviderFunc(func(_ context.Context, c agent.Context) (*agent.Context, error) {
						s, err := answer(said)
						if s == nil {
							return nil, err
						}
						c.Instructions += *s
						return &c, nil
					}), nil
				}), opts...)
			}
			require.NoError(rt, err)
		}
		p := explainPrompt(t, k, k.Thread().ID())
		k.Run("go")
		require.Equal(rt, last(k).System, p.Text)
	})
}
