package kernel_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

// probes makes one contribution to every hook point. fire is told the point, and may panic.
func probes(fire func(point string), opts ...contrib.Option) map[string]fx.Option {
	return map[string]fx.Option{
		"hook.session": contrib.Supply[hook.SessionObserver](hook.Sessions, sessionProbe(fire), opts...),
		"hook.turn":    contrib.Supply[hook.TurnObserver](hook.Turns, turnProbe(fire), opts...),
		"hook.prompt": contrib.Supply[hook.Prompt](hook.Prompts, hook.PromptFunc(func(context.Context, hook.PromptInfo, string) (string, error) {
			fire("hook.prompt")
			return "", nil
		}), opts...),
		"hook.user_message": contrib.Supply[hook.UserMessage](hook.UserMessages, hook.UserMessageFunc(func(context.Context, hook.Scope, string) (string, bool, error) {
			fire("hook.user_message")
			return "", false, nil
		}), opts...),
		"hook.transform_model": contrib.Supply[hook.TransformModel](hook.TransformModels, hook.TransformModelFunc(func(context.Context, hook.Request) ([]hook.Item, error) {
			fire("hook.transform_model")
			return nil, nil
		}), opts...),
		"hook.model_response": contrib.Supply[hook.ModelResponse](hook.ModelResponses, hook.ModelResponseFunc(func(context.Context, hook.Response) error {
			fire("hook.model_response")
			return nil
		}), opts...),
		"hook.tool_call": contrib.Supply[hook.ToolCall](hook.ToolCalls, hook.ToolCallFunc(func(context.Context, hook.Call) (*hook.Call, error) {
			fire("hook.tool_call")
			return nil, nil
		}), opts...),
		"hook.tool_result": contrib.Supply[hook.ToolResult](hook.ToolResults, hook.ToolResultFunc(func(context.Context, hook.Call, hook.Result) (*hook.Result, error) {
			fire("hook.tool_result")
			return nil, nil
		}), opts...),
		"hook.approval": contrib.Supply[hook.Approval](hook.Approvals, hook.ApprovalFunc(func(context.Context, hook.Call, tool.Classification) (*hook.Advice, error) {
			fire("hook.approval")
			return nil, nil
		}), opts...),
		"hook.compaction": contrib.Supply[hook.Compaction](hook.Compactions, hook.CompactionFunc(func(context.Context, hook.Scope, hook.Phase, string) (string, error) {
			fire("hook.compaction")
			return "", nil
		}), opts...),
		"rawhook.rebuild_model": contrib.Supply[rawhook.RebuildModel](rawhook.RebuildModels, rawhook.RebuildModelFunc(func(context.Context, hook.Request) ([]hook.Item, error) {
			fire("rawhook.rebuild_model")
			return nil, nil
		}), opts...),
		"rawhook.rewrite_prompt": contrib.Supply[rawhook.RewritePrompt](rawhook.RewritePrompts, rawhook.RewritePromptFunc(func(context.Context, hook.PromptInfo, string) (*string, error) {
			fire("rawhook.rewrite_prompt")
			return nil, nil
		}), opts...),
		"rawhook.rewrite_compaction": contrib.Supply[rawhook.RewriteCompaction](rawhook.RewriteCompactions, rawhook.RewriteCompactionFunc(func(context.Context, hook.Scope, hook.Phase, string) (*string, error) {
			fire("rawhook.rewrite_compaction")
			return nil, nil
		}), opts...),
		"rawhook.rewrite_approval": contrib.Supply[rawhook.RewriteApproval](rawhook.RewriteApprovals, rawhook.RewriteApprovalFunc(func(context.Context, hook.Call, tool.Classification) (*tool.Classification, error) {
			fire("rawhook.rewrite_approval")
			return nil, nil
		}), opts...),
	}
}

type sessionProbe func(point string)

func (p sessionProbe) SessionStarted(context.Context, hook.Session) error {
	p("hook.session")
	return nil
}

func (p sessionProbe) SessionEnded(context.Context, hook.Session) error {
	p("hook.session")
	return nil
}

type turnProbe func(point string)

func (p turnProbe) TurnStarted(context.Context, hook.Turn) error {
	p("hook.turn")
	return nil
}

func (p turnProbe) TurnFinished(context.Context, hook.Turn) error {
	p("hook.turn")
	return nil
}

// hookPoints are the hook points of the catalog.
func hookPoints() []string {
	var names []string
	for _, p := range points.Catalog() {
		if strings.HasPrefix(p.Name(), "hook.") || strings.HasPrefix(p.Name(), "rawhook.") {
			names = append(names, p.Name())
		}
	}
	return names
}

// everything is one thread that reaches every hook: a call that needs approval, and a compaction by hand.
func everything(t *testing.T, opts ...fx.Option) (*kerneltest.Kernel, []kerneltest.Turn) {
	t.Helper()
	k := kerneltest.Start(t, append(opts,
		kerneltest.Script(call("change", `{}`), say("done"), say("again"), say("the summary")),
		kerneltest.Tools(writing("change", answering("changed"))),
		kerneltest.Answers(approval.Once))...)
	th := k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault})
	one := k.RunOn(t.Context(), th, kernel.Input{Text: "one"})
	two := k.RunOn(t.Context(), th, kernel.Input{Text: "two"})
	outcome, err := th.Compact(t.Context(), "", nil)
	require.NoError(t, err)
	require.True(t, outcome.Summarised)
	require.NoError(t, th.Close(t.Context()))
	return k, []kerneltest.Turn{one, two}
}

// FIELD-A9. The catalog says what must be reached: a new hook point without a probe here, or without a call site, fails.
func TestEveryDeclaredHookPointIsReached(t *testing.T) {
	var mu sync.Mutex
	fired := map[string]int{}
	all := probes(func(point string) {
		mu.Lock()
		defer mu.Unlock()
		fired[point]++
	})
	require.ElementsMatch(t, hookPoints(), slices.Collect(maps.Keys(all)))
	everything(t, kerneltest.Plugins(plugin("acme.probe", slices.Collect(maps.Values(all))...)))
	for _, point := range hookPoints() {
		assert.Positive(t, fired[point], "%s was not reached", point)
	}
}

// FIELD-B4
func TestPanickingHookIsSkippedAtEveryPoint(t *testing.T) {
	var mu sync.Mutex
	fired := map[string]int{}
	bad := probes(func(string) { panic("x") }, contrib.Order(-1), contrib.Label("bad"))
	good := probes(func(point string) {
		mu.Lock()
		defer mu.Unlock()
		fired[point]++
	})
	all := append(slices.Collect(maps.Values(bad)), slices.Collect(maps.Values(good))...)
	k, turns := everything(t, kerneltest.Plugins(plugin("acme.probe", all...)))
	for _, turn := range turns {
		assert.Equal(t, kernel.Completed, turn.Result.Stop)
	}
	noted := map[string]int{}
	for _, d := range k.Registry().Diagnostics() {
		if d.Code == contrib.CodeCallFailed {
			assert.Equal(t, "panic", d.Params["cause"])
			assert.Equal(t, "acme.probe/bad", d.Params["label"])
			noted[d.Point]++
		}
	}
	for _, point := range hookPoints() {
		assert.Positive(t, fired[point], "the recording hook of %s", point)
		assert.Positive(t, noted[point], "the note of %s", point)
	}
}

// The order of the steps of a turn is that of the table in the documentation of hooks.
func TestHooksOfATurnRunInTheirOrder(t *testing.T) {
	var mu sync.Mutex
	var order []string
	all := probes(func(point string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, point)
	})
	k := kerneltest.Start(t,
		kerneltest.Script(call("change", `{}`), say("done")), kerneltest.Tools(writing("change", answering("changed"))),
		kerneltest.Plugins(plugin("acme.probe", slices.Collect(maps.Values(all))...)))
	k.Run("go")
	assert.Equal(t, []string{
		"hook.session", "hook.user_message", "hook.turn", "hook.prompt", "rawhook.rewrite_prompt",
		"rawhook.rebuild_model", "hook.transform_model", "hook.model_response",
		"hook.tool_call", "hook.approval", "rawhook.rewrite_approval", "hook.tool_result",
		"rawhook.rebuild_model", "hook.transform_model", "hook.model_response", "hook.turn",
	}, order)
}
