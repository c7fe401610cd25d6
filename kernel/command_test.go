package kernel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
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
		names = append(names, c.Name+"|"+c.Qualified)
	}
	return names
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
	assert.Equal(t, []kernel.Command{{Name: "triage", Aliases: []string{"tri"}, Origin: contrib.Builtin()}}, k.Commands(nil))
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
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(
		plugin("acme.five", promptCommand("go", saying("five"), contrib.Order(5)), promptCommand("help", saying("my help"))),
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
	assert.Equal(t, []string{"|acme.bad:go", "|acme.five:go", "|acme.five:help", "|acme.one:go", "go|acme.first:go"},
		shortNames(k.Commands(nil, "/Help")), "the first keeps a contested name, and the host's own are never hidden")

	th, other := k.NewThread(kernel.Options{}), k.NewThread(kernel.Options{})
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
