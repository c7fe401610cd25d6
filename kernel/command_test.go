package kernel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/command"
)

func promptCommand(name string, f func(i command.Invocation) (string, bool, error), opts ...contrib.Option) fx.Option {
	return contrib.Supply(command.Prompts, promptValue(name, f), opts...)
}

func promptValue(name string, f func(i command.Invocation) (string, bool, error)) command.Prompt {
	return command.PromptFunc(command.Spec{Name: name}, func(_ context.Context, i command.Invocation) (string, bool, error) { return f(i) })
}

func saying(text string) func(command.Invocation) (string, bool, error) {
	return func(i command.Invocation) (string, bool, error) {
		return strings.TrimSpace(text + " " + i.Arguments), true, nil
	}
}

func shortNames(list []kernel.Command) (names []string) {
	for _, c := range list {
		if c.Kind != kernel.VerbCommand {
			names = append(names, c.Name+"|"+c.Qualified)
		}
	}
	return names
}

// hosted gives the kernel commands of its host: verbs, with their aliases behind a colon, and one file of each owner that
// is named as owner:name.
func hosted(verbs []string, files ...string) fx.Option {
	var list []kernel.HostCommand
	for _, f := range files {
		owner, name, _ := strings.Cut(f, ":")
		list = append(list, kernel.HostCommand{Owner: owner, Name: name, Expand: func(_ context.Context, i command.Invocation) (string, error) {
			return owner + " " + i.Arguments, nil
		}})
	}
	for _, v := range verbs {
		name, alias, _ := strings.Cut(v, ":")
		list = append(list, kernel.HostCommand{Name: name, Aliases: []string{alias}})
	}
	return fx.Replace(kernel.Config{Commands: list})
}

// POINT-1
func TestCommandComesAndGoes(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script())
	handle, err := command.Prompts.Add(k.Registry().Builtin(), command.PromptFunc(
		command.Spec{Name: "/Triage", Aliases: []string{"/tri", "tri", "triage", ""}},
		func(_ context.Context, i command.Invocation) (string, bool, error) {
			return i.Name + ":" + i.Arguments, true, nil
		}))
	require.NoError(t, err)
	assert.Equal(t, []kernel.Command{{
		Name: "triage", Aliases: []string{"tri"}, Qualified: "builtin:triage", Kind: kernel.PromptCommand, Owner: "builtin",
	}}, k.Commands(nil))
	for text, want := range map[string]string{"/triage  a b ": "triage:a b", "/TRI": "tri:", "/tri\nx": "tri:x"} {
		got, ok, err := k.Expand(t.Context(), nil, text)
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"triage", "/etc/hosts", "/", "/9x", "/ tri"} {
		_, ok, err := k.Expand(t.Context(), nil, text)
		require.NoError(t, err)
		assert.False(t, ok, text)
	}
	handle.Revoke()
	assert.Empty(t, k.Commands(nil))
	_, ok, err := k.Expand(t.Context(), nil, "/triage")
	assert.True(t, ok)
	require.ErrorIs(t, err, kernel.ErrUnknownCommand)
}

// POINT-2
func TestWhoOwnsACommandName(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), hosted([]string{"help"}, "workspace:deploy"), kerneltest.Plugins(
		plugin("acme.five", promptCommand("go", saying("five"), contrib.Order(5)), promptCommand("help", saying("my help")),
			promptCommand("deploy", saying("my deploy"))),
		plugin("acme.one", promptCommand("go", saying("one"), contrib.Order(1))),
		plugin("acme.first", promptCommand("go", func(command.Invocation) (string, bool, error) { return "", false, nil }, contrib.Order(-2))),
		plugin("acme.bad", promptCommand("go", func(command.Invocation) (string, bool, error) { return "", false, errors.New("no") }, contrib.Order(-1))),
	))
	expand := func(th *kernel.Thread, text string) string {
		got, _, err := k.Expand(t.Context(), th, text)
		if err != nil {
			return "error"
		}
		return got
	}
	assert.Equal(t, "one x", expand(nil, "/go x"), "what declines, and what fails, leaves the answer to the next")
	failed := 0
	for _, d := range k.Registry().Diagnostics() {
		if d.Code == contrib.CodeCallFailed {
			failed++
			assert.Equal(t, "acme.bad", d.Origin.ID())
		}
	}
	assert.Equal(t, 1, failed)
	assert.Equal(t, "five", expand(nil, "/acme.five:go"))
	assert.Equal(t, "my help", expand(nil, "/acme.five:help"))
	assert.Equal(t, "my deploy", expand(nil, "/acme.five:deploy"))
	assert.Equal(t, "workspace now", expand(nil, "/deploy now"))
	assert.Equal(t, []string{
		"|acme.bad:go", "|acme.five:deploy", "|acme.five:go", "|acme.five:help", "|acme.one:go", "deploy|workspace:deploy", "go|acme.first:go",
	}, shortNames(k.Commands(nil)), "the first keeps a contested name, and the host's own are never hidden")
	_, _, err := k.Expand(t.Context(), nil, "/help")
	require.ErrorIs(t, err, kernel.ErrVerb)

	th, other := k.NewThread(kernel.Options{}), k.NewThread(kernel.Options{})
	late, err := command.Prompts.Add(k.Registry().Builtin(), promptValue("late", saying("late")))
	require.NoError(t, err)
	defer late.Revoke()
	assert.Equal(t, "late", expand(th, "/late"), "without a restart")
	handle, err := command.Prompts.Add(k.Registry().Builtin(), promptValue("mine", saying("mine")), contrib.InThread(contrib.ThreadID(th.ID())))
	require.NoError(t, err)
	defer handle.Revoke()
	assert.Equal(t, "mine", expand(th, "/mine"))
	assert.Equal(t, "error", expand(other, "/mine"))
	assert.Equal(t, "error", expand(nil, "/mine"))
}

func action(name string, f func(ctx context.Context, argument string, out command.Output) error, opts ...contrib.Option) fx.Option {
	return contrib.Supply(command.Actions, command.ActionFunc(command.Spec{Name: name}, f), opts...)
}

func TestActionCommandWritesNotes(t *testing.T) {
	var kept command.Output
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		action("act", func(_ context.Context, argument string, out command.Output) error {
			kept = out
			if err := out.Write("did " + argument); err != nil {
				return err
			}
			return out.Fail("but not all")
		}),
		action("broken", func(context.Context, string, command.Output) error { return errors.New("secret-123") }),
		action("panics", func(context.Context, string, command.Output) error { panic("secret-123") }),
		promptCommand("act", saying("never")),
	)))
	execute := func(text string) []string {
		var notes []string
		done, ok, err := k.Execute(t.Context(), nil, text, func(n kernel.Noted) {
			notes = append(notes, string(n.Severity)+" "+n.Plugin+" "+n.Message)
		})
		require.NoError(t, err)
		require.True(t, ok)
		require.True(t, done.Action)
		return notes
	}
	assert.Equal(t, []string{"info acme.p did it", "error acme.p but not all"}, execute("/act it"))
	require.ErrorIs(t, kept.Write("late"), command.ErrOutputClosed)
	assert.Equal(t, []string{"error acme.p Plugin operation failed."}, execute("/broken"))
	assert.Equal(t, []string{"error acme.p Plugin operation failed."}, execute("/panics"))

	_, _, err := k.Expand(t.Context(), nil, "/act")
	require.ErrorIs(t, err, kernel.ErrActionCommand, "it came first, so it has the name")
	_, ok, err := k.Execute(t.Context(), nil, "/nobody", nil)
	assert.True(t, ok)
	require.ErrorIs(t, err, kernel.ErrUnknownCommand)
	done, _, err := k.Execute(t.Context(), nil, "/acme.p:broken", nil)
	require.NoError(t, err)
	assert.True(t, done.Action)
	_, ok, err = k.Execute(t.Context(), nil, "plain text", nil)
	require.NoError(t, err)
	assert.False(t, ok)
}

func TestActionWritesAtMostAHundredNotes(t *testing.T) {
	var refused error
	var kept command.Output
	k := kerneltest.Start(t, kerneltest.Script(), action("flood", func(_ context.Context, _ string, out command.Output) error {
		kept = out
		for range command.MaxNotes + 1 {
			refused = out.Write("x")
		}
		return nil
	}))
	notes := 0
	_, _, err := k.Execute(t.Context(), k.NewThread(kernel.Options{}), "/flood", func(kernel.Noted) { notes++ })
	require.NoError(t, err)
	assert.Equal(t, command.MaxNotes, notes)
	require.ErrorIs(t, refused, kernel.ErrOutputFull)
	require.ErrorIs(t, kept.Write("late"), command.ErrOutputClosed, "for an action of the host too")
}

// FIELD-U1, EXT-7
func TestNobodyTakesTheNameOfAVerb(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), hosted([]string{"status", "exit:quit"}, "workspace:status"), kerneltest.Plugins(
		plugin("acme.x", promptCommand("status", saying("plugin")), promptCommand("quit", saying("mine")))))
	for _, name := range []string{"/status", "/quit"} {
		_, _, err := k.Expand(t.Context(), nil, name)
		require.ErrorIs(t, err, kernel.ErrVerb, name)
		_, _, err = k.Execute(t.Context(), nil, name, nil)
		require.ErrorIs(t, err, kernel.ErrVerb, name)
	}
	for name, want := range map[string]string{
		"/acme.x:status": "plugin", "/Workspace:STATUS": "workspace ", "/acme.x:quit": "mine",
	} {
		got, _, err := k.Expand(t.Context(), nil, name)
		require.NoError(t, err, name)
		assert.Equal(t, want, got)
	}
	var reached []string
	for _, n := range k.TakenCommands() {
		assert.Equal(t, kernel.CodeCommandNameTaken, n.Code)
		reached = append(reached, n.Params["qualified"].(string))
	}
	assert.Equal(t, []string{"workspace:status", "acme.x:status", "acme.x:quit"}, reached)
	assert.Empty(t, k.TakenCommands(), "each is told once")
	assert.Empty(t, k.Run("go").Notes())
	assert.NotContains(t, last(k).System, "/exit", "verbs are no concern of the model")
	assert.Contains(t, last(k).System, "\n- /acme.x:quit\n- /acme.x:status\n- /workspace:status")
}

func TestTurnTellsOfCommandsThatCameLaterWithoutTheirName(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), hosted(nil, "user:review"))
	th, other := k.NewThread(kernel.Options{}), k.NewThread(kernel.Options{})
	notes := func(th *kernel.Thread) int { return len(k.RunOn(t.Context(), th, kernel.Input{Text: "x"}).Notes()) }
	assert.Zero(t, notes(th))
	module := k.Registry().Builtin()
	for range 2 {
		h, err := command.Prompts.Add(module, promptValue("review", saying("")), contrib.InThread(contrib.ThreadID(th.ID())))
		require.NoError(t, err)
		assert.Zero(t, notes(other), "another thread does not have it")
		assert.Equal(t, 1, notes(th))
		assert.Zero(t, notes(th))
		h.Revoke()
	}
}

// FIELD-U2
func TestFourOwnersOfOneName(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), hosted(nil, "workspace:launch", "user:launch"), kerneltest.Plugins(
		plugin("acme.x", promptCommand("launch", saying("x"))), plugin("acme.y", promptCommand("launch", saying("y")))))
	assert.Equal(t, []string{"|acme.x:launch", "|acme.y:launch", "launch|workspace:launch", "|user:launch"}, shortNames(k.Commands(nil)))
	for name, want := range map[string]string{
		"launch": "workspace ", "workspace:launch": "workspace ", "user:launch": "user ", "acme.x:launch": "x", "acme.y:launch": "y",
	} {
		got, err := k.Invoke(t.Context(), command.Invocation{Name: name})
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

// FIELD-U5
func TestExactNameWinsAndAPartOfOneIsUnknown(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), promptCommand("quit", saying("quit")), promptCommand("quit-later", saying("later")))
	got, _, err := k.Expand(t.Context(), nil, "/quit")
	require.NoError(t, err)
	assert.Equal(t, "quit", got)
	for text, near := range map[string]string{
		"/qui": "/qui; near it: /quit, /quit-later", "/quid": "/quid; near it: /quit", "/elsewhere": "/elsewhere",
	} {
		_, _, err = k.Expand(t.Context(), nil, text)
		require.ErrorIs(t, err, kernel.ErrUnknownCommand)
		assert.Equal(t, "kernel: unknown command "+near, err.Error())
	}
}

func TestInvocationCarriesTheMode(t *testing.T) {
	var seen command.Invocation
	k := kerneltest.Start(t, kerneltest.Script(), promptCommand("x", func(i command.Invocation) (string, bool, error) {
		seen = i
		return "x", true, nil
	}))
	_, err := k.Invoke(t.Context(), command.Invocation{Name: "x", Mode: kernel.ModePlan})
	require.NoError(t, err)
	assert.Equal(t, kernel.ModePlan, seen.Mode)
	th := k.NewThread(kernel.Options{Mode: kernel.ModePlan})
	_, _, err = k.Expand(t.Context(), th, "/x a")
	require.NoError(t, err)
	assert.Equal(t, command.Invocation{Name: "x", Arguments: "a", Thread: th.ID(), Mode: kernel.ModePlan}, seen)
}

// Whoever the commands belong to, each is reached by the name that the listing gives it, and no two by the same.
func TestEveryListedNameReachesItsCommand(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		names := func(label string) []string {
			return rapid.SliceOfNDistinct(name, 0, 3, rapid.ID[string]).Draw(rt, label)
		}
		r, err := contrib.New(points.Catalog()...)
		require.NoError(rt, err)
		var host []kernel.HostCommand
		for _, owner := range []string{"", "workspace", "user"} {
			for _, n := range names(owner) {
				c := kernel.HostCommand{Name: n, Aliases: names("alias"), Owner: owner}
				if owner != "" {
					c.Expand = func(context.Context, command.Invocation) (string, error) { return owner + ":" + n, nil }
				}
				host = append(host, c)
			}
		}
		for _, id := range []string{"m.x", "m.y"} {
			module, err := r.Builtin().Module(id)
			require.NoError(rt, err)
			for _, n := range names(id) {
				_, err := command.Prompts.Add(module, command.PromptFunc(command.Spec{Name: n, Aliases: names("alias")},
					func(context.Context, command.Invocation) (string, bool, error) { return id + ":" + n, true, nil }),
					contrib.Order(rapid.IntRange(0, 2).Draw(rt, "order")))
				require.NoError(rt, err)
			}
		}
		k := kernel.New(kernel.Parts{Registry: r, Config: kernel.Config{Commands: host}, Store: threadlog.Memory()})
		reached := map[string]bool{}
		for _, c := range k.Commands(nil) {
			for _, n := range append([]string{c.Reached()}, c.Aliases...) {
				assert.False(rt, reached[n], n)
				reached[n] = true
				got, err := k.Invoke(t.Context(), command.Invocation{Name: n})
				if c.Kind == kernel.VerbCommand {
					require.ErrorIs(rt, err, kernel.ErrVerb)
					continue
				}
				require.NoError(rt, err, n)
				assert.Equal(rt, c.Qualified, got, n)
			}
		}
		require.NoError(rt, k.Stop(t.Context()))
	})
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"/echo a b", " /ECHO\u00a0x", "/m:echo\ty", "/etc/hosts", "//", "/echo\xff", "/nosuch-", "/\u0130"} {
		f.Add(seed)
	}
	r, err := contrib.New(points.Catalog()...)
	require.NoError(f, err)
	var seen command.Invocation
	_, err = command.Prompts.Add(r.Builtin(), promptValue("echo", func(i command.Invocation) (string, bool, error) {
		seen = i
		return "text", true, nil
	}))
	require.NoError(f, err)
	k := kernel.New(kernel.Parts{Registry: r, Store: threadlog.Memory()})
	f.Cleanup(func() { _ = k.Stop(context.Background()) })
	f.Fuzz(func(t *testing.T, text string) {
		seen = command.Invocation{}
		expanded, ok, err := k.Expand(t.Context(), nil, text)
		switch {
		case !ok:
			assert.Empty(t, expanded)
			require.NoError(t, err)
		case err != nil:
			require.ErrorIs(t, err, kernel.ErrUnknownCommand)
			assert.True(t, strings.HasPrefix(strings.TrimSpace(text), "/"))
		default:
			assert.Equal(t, "echo", strings.TrimPrefix(seen.Name, "builtin:"))
			assert.Equal(t, strings.TrimSpace(seen.Arguments), seen.Arguments)
			assert.True(t, strings.HasSuffix(strings.TrimSpace(text), seen.Arguments), "arguments go in as they are typed")
		}
	})
}
