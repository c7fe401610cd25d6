package composer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/prompt"
)

func registry(t testing.TB) *contrib.Registry {
	t.Helper()
	r, err := contrib.New(points.Catalog()...)
	require.NoError(t, err)
	return r
}

func section(t testing.TB, r *contrib.Registry, name, text string, err error, opts ...contrib.Option) *contrib.Handle {
	t.Helper()
	h, refused := prompt.Sections.Add(r.Builtin(), prompt.SectionFunc(name, func(context.Context, prompt.Context) (string, error) {
		return text, err
	}), opts...)
	require.NoError(t, refused)
	return h
}

func compose(t testing.TB, r *contrib.Registry, in composer.Inputs) string {
	t.Helper()
	if in.Report == nil {
		in.Report = func(*contrib.EntryInfo, *contrib.CallError) {}
	}
	text, err := composer.Compose(t.Context(), r.View(), in)
	require.NoError(t, err)
	return text
}

func TestSectionsInOrder(t *testing.T) {
	r := registry(t)
	section(t, r, "c", " three \n", nil, contrib.Order(3))
	section(t, r, "a", "one", nil, contrib.Order(1))
	section(t, r, "blank", " \n", nil, contrib.Order(2))
	section(t, r, "bad", "", errors.New("no"), contrib.Order(2))
	var failed []string
	text := compose(t, r, composer.Inputs{Report: func(e *contrib.EntryInfo, _ *contrib.CallError) { failed = append(failed, e.Label) }})
	assert.Equal(t, "one\n\n---\n\nthree", text)
	assert.Len(t, failed, 1)
}

func TestReplacementWithBlankContentRemovesABuiltIn(t *testing.T) {
	r := registry(t)
	section(t, r, prompt.ResponseStyle, "be nice", nil, contrib.Named(prompt.ResponseStyle))
	h := section(t, r, "mine", "", nil, contrib.ReplaceTarget(prompt.ResponseStyle))
	assert.Empty(t, compose(t, r, composer.Inputs{}))
	h.Revoke()
	assert.Equal(t, "be nice", compose(t, r, composer.Inputs{}))
}

func TestBind(t *testing.T) {
	r := registry(t)
	calls := 0
	for name, f := range map[string]func() (string, error){
		"Build": func() (string, error) { calls++; return "{{mode}}", nil },
		"empty": func() (string, error) { return "", nil },
		"bad":   func() (string, error) { return "", errors.New("no") },
	} {
		_, err := prompt.Placeholders.Add(r.Builtin(), prompt.PlaceholderFunc(name, func(context.Context, prompt.Binding) (string, error) { return f() }))
		require.NoError(t, err)
	}
	in := composer.Inputs{
		Host:   func(name string) string { return "<" + name + ">" },
		Report: func(*contrib.EntryInfo, *contrib.CallError) {},
	}
	for text, want := range map[string]string{
		"plain":                      "plain",
		"{{mode}} {{ MODE }}":        "<mode> <mode>",
		"{{build}}{{BUILD}}":         "{{mode}}{{mode}}",
		"[{{empty}}]":                "[]",
		"{{bad}} {{unknown}}":        "{{bad}} {{unknown}}",
		"{{ {{mode}}":                "{{ <mode>",
		"{{}} {{a b}} {{é}} {{open":  "{{}} {{a b}} {{é}} {{open",
		"{{{mode}}}":                 "{<mode>}",
		strings.Repeat("{", 9) + "x": strings.Repeat("{", 9) + "x",
	} {
		got, err := composer.Bind(t.Context(), r.View(), in, text)
		require.NoError(t, err)
		assert.Equal(t, want, got, text)
	}
	assert.Equal(t, 1, calls, "several tokens of one name are one call")
}

func FuzzBind(f *testing.F) {
	for _, seed := range []string{"", "{{mode}}", "{{ mode }} {{x", "{{{{mode}}}}", "\xff{{\xff}}"} {
		f.Add(seed)
	}
	r := registry(f)
	in := composer.Inputs{Host: func(string) string { return "" }, Report: func(*contrib.EntryInfo, *contrib.CallError) {}}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := composer.Bind(t.Context(), r.View(), in, text)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "{{") && got != text {
			t.Fatalf("%q became %q without a token", text, got)
		}
		if len(got) > len(text) {
			t.Fatalf("%q grew to %q, and every value is blank", text, got)
		}
	})
}

func TestBuiltInSections(t *testing.T) {
	r := registry(t)
	app := fxtest.New(t, fx.NopLogger, fx.Supply(r, r.Builtin()), composer.Module)
	app.RequireStart()
	defer app.RequireStop()
	plan := compose(t, r, composer.Inputs{Context: prompt.Context{Mode: "plan"}})
	assert.Contains(t, plan, "# Mode: plan")
	assert.NotContains(t, plan, "# How to ask")
	work := composer.Inputs{Context: prompt.Context{Mode: "work", Tools: []string{"edit", "question"}, Workspace: `C:\w`}}
	text := compose(t, r, work)
	assert.Contains(t, text, "# How to ask")
	assert.Contains(t, text, "# How to change files")
	assert.Contains(t, text, "Workspace: C:/w")
	assert.Equal(t, text, compose(t, r, work), "equal inputs give equal bytes")
}

func ExampleAppend() {
	text := composer.Append("You are Crystal.", "  Answer shortly.\n")
	fmt.Printf("%q\n", composer.Append(text, " \n"))
	// Output: "You are Crystal.\n\nAnswer shortly."
}
