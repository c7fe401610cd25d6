package compaction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/compaction"
	points "github.com/crystalkernel/crystal/points/compaction"
)

// install contributes the built-ins to a registry, as a host does.
func install(t *testing.T, r *contrib.Registry) {
	t.Helper()
	app := fxtest.New(t, fx.Supply(r.Builtin()), compaction.Module)
	app.RequireStart()
	t.Cleanup(app.RequireStop)
	require.Len(t, points.Summarizers.Entries(r.View(), ""), 1)
}

// constant makes the same summary each time.
type constant string

func (c constant) Summarize(context.Context, points.Request) (*points.Summary, error) {
	return &points.Summary{Text: string(c)}, nil
}

func TestBuiltinToolNames(t *testing.T) { // POINT-7
	registry, err := contrib.New(points.Summarizers, points.ToolPolicies)
	require.NoError(t, err)
	install(t, registry)
	mine := names{"x": true, "read": false}
	_, err = points.ToolPolicies.Add(registry.Builtin(), mine)
	require.NoError(t, err)
	dropped := func() string {
		b := answers(t, compaction.Settings{Window: 1000000}, "unused")
		b.in.Policies = func() []contrib.Entry[points.ToolPolicy] { return points.ToolPolicies.Entries(registry.View(), "") }
		b.user("one")
		for _, tool := range []string{"x", "read", "grep", "other", "skill"} {
			b.call(tool, tokens(30000, ""))
		}
		b.call("x", tokens(40000, ""))
		b.user("two")
		b.user("three")
		b.run()
		return results(b.log.Items())
	}
	assert.Equal(t, "-+-+++", dropped())
	h, err := points.ToolPolicies.Add(registry.Builtin(), names{}, contrib.ReplaceTarget(points.BuiltinToolNames))
	require.NoError(t, err)
	assert.Equal(t, "-+++++", dropped())
	h.Revoke()
	assert.Equal(t, "-+-+++", dropped())
}

func TestAuthorityOverSummaries(t *testing.T) { // POINT-6
	registry, err := contrib.New(points.Summarizers, points.ToolPolicies)
	require.NoError(t, err)
	install(t, registry)
	says := func(text string) points.Summarizer { return constant(text) }
	made := func(thread contrib.ThreadID) string {
		b := answers(t, compaction.Settings{Window: 8000, MaxTokens: 1000}, "local")
		b.in.Summarizers = func() []contrib.Entry[points.Summarizer] {
			return points.Summarizers.Entries(registry.View(), thread)
		}
		b.user(tokens(6500, "one"))
		b.user("two")
		require.True(t, b.run().Summarised)
		return strings.TrimPrefix(b.first()[0], "## Earlier context\n")
	}
	assert.Equal(t, "local", made("T1"))
	replacement, err := points.Summarizers.Add(registry.Builtin(), says("replaced"), contrib.ReplaceTarget(points.LocalSummary))
	require.NoError(t, err)
	assert.Equal(t, "replaced", made("T1"))
	inThread, err := points.Summarizers.Add(registry.Builtin(), says("of T1"),
		contrib.ReplaceTarget(points.LocalSummary), contrib.InThread("T1"))
	require.NoError(t, err)
	assert.Equal(t, "of T1 replaced", fmt.Sprint(made("T1"), " ", made("T2")))
	inThread.Revoke()
	replacement.Revoke()
	assert.Equal(t, "local", made("T1"))
	above, err := points.Summarizers.Add(registry.Builtin(), says("above"), contrib.Order(101))
	require.NoError(t, err)
	_, err = points.Summarizers.Add(registry.Builtin(), says("below"), contrib.Order(99))
	require.NoError(t, err)
	assert.Equal(t, "above", made("T1"), "the last entry has authority")
	above.Revoke()
	assert.Equal(t, "local", made("T1"))
}
