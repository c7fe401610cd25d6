package kernel_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

func toolNames(r *model.Request) []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

func disable(t *testing.T, k *kerneltest.Kernel, id string) {
	t.Helper()
	_, err := k.Plugins.SetEnabled(t.Context(), id, false, plugins.ScopeProcess)
	require.NoError(t, err)
}

// FIELD-D8, FIELD-D10
func TestCallOfAnUnknownNameFailsAlone(t *testing.T) {
	f := abc()
	k := kerneltest.Start(t, kerneltest.Script(
		calls("", `{}`, "bash\n", `{}`, strings.Repeat("a", 300), `{}`, "read", `{"path":"a.txt"}`, "Read", `{"path":"b.txt"}`)),
		kerneltest.Tools(f.tool()))
	turn := k.Run("go")
	got := results(last(k))
	require.Len(t, got, 5)
	for _, r := range got[:3] {
		assert.Equal(t, model.Failure, r.Status)
		assert.Contains(t, r.Text, tool.CodeNotFound)
		assert.LessOrEqual(t, len([]rune(r.Text)), 1000)
		assert.NotContains(t, r.Text, strings.Repeat("a", 65))
	}
	assert.Equal(t, "A", got[3].Text)
	assert.Equal(t, "B", got[4].Text, "the one tool that matches when letter case is ignored runs")
	assert.Equal(t, "Read", stored[*threadlog.Round](t, k, k.Thread())[0].Items[4].Name)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
}

// FIELD-F1, FIELD-F8, FIELD-F9
func TestUnusableArgumentsAreAResult(t *testing.T) {
	for _, c := range []struct {
		arguments, reason string
		offset            any
	}{
		{`{"path":"ls"`, "notJson", 12},
		{`{"path":"a"}}`, "trailingText", 12},
		{`null`, "notObject", nil},
		{`[]`, "notObject", nil},
		{`[{"path":"a"}]`, "notObject", nil},
		{`"a.txt"`, "notObject", nil},
		{`"` + strings.Repeat("x", 10_000) + `"`, "notObject", nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			f := abc()
			k := kerneltest.Start(t, kerneltest.Script(call("read", c.arguments), say("sorry")), kerneltest.Tools(f.tool()))
			turn := k.Run("go")
			require.Len(t, turn.Calls(), 1)
			ended := turn.Calls()[0]
			assert.Equal(t, tool.CodeInputInvalid, ended.Code)
			assert.Equal(t, c.reason, ended.Error.Params["reasonCode"])
			if c.offset != nil {
				assert.EqualValues(t, c.offset, ended.Error.Params["offset"])
			}
			assert.LessOrEqual(t, len([]rune(ended.Text)), 4000)
			assert.False(t, ended.Executed)
			assert.Empty(t, f.seen())
			assert.Equal(t, c.arguments, stored[*threadlog.Round](t, k, k.Thread())[0].Items[0].Arguments, "the log keeps the text as it came")
			assert.Len(t, results(last(k)), 1)
			assert.Equal(t, kernel.Completed, turn.Result.Stop)
		})
	}
}

// FIELD-F2, FIELD-G1
func TestOneFailureLeavesItsSiblingsAlone(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(
		calls("read", `{"path":"a.txt"}`, "read", `{"path":"none.txt"}`, "read", `{"path":"b"`, "read", `{"path":"c.txt"}`)),
		kerneltest.Tools(abc().tool()))
	k.Run("go")
	got := results(last(k))
	require.Len(t, got, 4)
	assert.Equal(t, "A", got[0].Text)
	assert.Contains(t, got[1].Text, "file_missing")
	assert.Contains(t, got[2].Text, tool.CodeInputInvalid)
	assert.Equal(t, "C", got[3].Text)
}

// FIELD-F10
func TestAnswerThatWasCutRunsNoCall(t *testing.T) {
	f := abc()
	cut := call("read", `{"path":"a`)
	cut.Text, cut.Finish = "half", model.FinishLength
	k := kerneltest.Start(t, kerneltest.Script(cut, say("fine")), kerneltest.Tools(f.tool()))
	turn := k.Run("go")
	assert.Equal(t, kernel.OutputTruncated, turn.Result.Stop)
	assert.Equal(t, "half", turn.Result.Text)
	assert.Empty(t, f.seen())
	assert.Empty(t, turn.Calls())
	assert.Equal(t, kernel.Completed, k.Run("next").Result.Stop)
	assert.Equal(t, []string{"user: go", "assistant: half", "user: next"}, texts(last(k).Items))
}

// FIELD-G2, FIELD-G4
func TestEachCallOfARoundHasAnIDOfItsOwn(t *testing.T) {
	f := abc()
	// The scripted client goes past the assembler, as a middleware may.
	twice := &model.Response{Finish: model.FinishToolCalls, Items: []*model.Item{
		{Kind: model.ToolCall, CallID: "same", Name: "read", Arguments: `{"path":"a.txt"}`},
		{Kind: model.ToolCall, CallID: "same", Name: "read", Arguments: `{"path":"b.txt"}`},
		{Kind: model.ToolCall, Name: "read", Arguments: `{"path":"c.txt"}`},
		nil,
		{Kind: model.Message, Role: model.System, Text: "no model may say this"},
	}}
	k := kerneltest.Start(t, kerneltest.Script(say("never seen"), say("done")), kerneltest.Tools(f.tool()),
		contrib.Supply(model.Middlewares, model.MiddlewareFunc("double", func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
			return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
				answer, err := next.Round(ctx, r, emit)
				if twice != nil {
					answer, twice = twice, nil
				}
				return answer, err
			}), nil
		})))
	turn := k.Run("go")
	assert.Equal(t, []string{"a.txt", "b.txt", "c.txt"}, sorted(f.seen()))
	require.Len(t, turn.Calls(), 3)
	assert.Equal(t, "same", turn.Calls()[0].CallID)
	for _, c := range turn.Calls()[1:] {
		assert.Regexp(t, `^call_[0-9a-f]{32}$`, c.CallID)
	}
	assert.NotEqual(t, turn.Calls()[1].CallID, turn.Calls()[2].CallID)
	got := results(last(k))
	require.Len(t, got, 3)
	assert.Equal(t, []string{"A", "B", "C"}, []string{got[0].Text, got[1].Text, got[2].Text})
	assert.Equal(t, []string{"user: go"}, texts(last(k).Items))
}

// FIELD-G3
func TestAnIDMayComeAgainInALaterTurn(t *testing.T) {
	step := func(path string) kerneltest.Step {
		return kerneltest.Step{Calls: []kerneltest.Call{{ID: "call_1", Name: "read", Arguments: `{"path":"` + path + `"}`}}}
	}
	k := kerneltest.Start(t, kerneltest.Script(step("a.txt"), say("one"), step("b.txt"), say("two")), kerneltest.Tools(abc().tool()))
	k.Run("1")
	k.Run("2")
	got := results(last(k))
	require.Len(t, got, 2)
	assert.Equal(t, "A", got[0].Text)
	assert.Equal(t, "B", got[1].Text)
}

// Parallel calls are those that only look; results come in call order whatever ends first.
func TestParallelResultsComeInCallOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		wait := reading("wait", func(_ context.Context, i tool.Invocation) (tool.Result, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			var in struct{ Seconds int }
			_ = json.Unmarshal(i.Arguments, &in)
			time.Sleep(time.Duration(in.Seconds) * time.Second)
			return tool.Text(i.CallID), nil
		})
		k := kerneltest.Start(t, kerneltest.Script(calls("wait", `{"seconds":3}`, "wait", `{"seconds":2}`, "wait", `{"seconds":1}`)), kerneltest.Tools(wait))
		start := time.Now()
		turn := k.Run("go")
		assert.Equal(t, 3*time.Second, time.Since(start))
		assert.EqualValues(t, 3, most.Load())
		var ids []string
		for _, c := range turn.Calls() {
			ids = append(ids, c.CallID)
		}
		assert.Equal(t, []string{"c1", "c2", "c3"}, ids)
	})
}

// FIELD-O1
func TestHooksOfADisabledPluginAreSilentAtOnce(t *testing.T) {
	count := 0
	var k *kerneltest.Kernel
	k = kerneltest.Start(t, kerneltest.Script(call("off", `{}`), call("off", `{}`), say("done")),
		kerneltest.Tools(reading("off", func(context.Context, tool.Invocation) (tool.Result, error) {
			disable(t, k, "acme.p")
			return tool.Text("ok"), nil
		})),
		kerneltest.Plugins(plugin("acme.p", onCall(func(hook.Call) (*hook.Call, error) {
			count++
			return nil, nil
		}))))
	turn := k.Run("go")
	assert.Equal(t, 1, count)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
}

// FIELD-O8, FIELD-O10
func TestTurnKeepsThePlanThatItStartedWith(t *testing.T) {
	var k *kerneltest.Kernel
	var added *contrib.Handle
	reload := func(context.Context, *model.Request) error {
		disable(t, k, "acme.a")
		var err error
		added, err = tool.Sources.Add(k.Registry().Builtin(), tool.Fixed("later", []tool.Registration{reading("b", answering("B"))}...))
		return err
	}
	k = kerneltest.Start(t, kerneltest.Script(
		kerneltest.Step{Before: reload, Calls: []kerneltest.Call{{Name: "keep", Arguments: `{}`}}},
		call("a", `{}`), call("b", `{}`), say("done"), call("b", `{}`), say("next")),
		kerneltest.Tools(reading("keep", answering("kept"))),
		kerneltest.Plugins(plugin("acme.a", source(reading("a", answering("A"))))))
	turn := k.Run("go")
	require.Len(t, turn.Calls(), 3)
	assert.Equal(t, model.Success, turn.Calls()[0].Status)
	assert.Equal(t, tool.CodeUnavailable, turn.Calls()[1].Code)
	assert.Equal(t, tool.CodeNotFound, turn.Calls()[2].Code)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)

	turn = k.Run("next")
	assert.Contains(t, toolNames(last(k)), "b")
	assert.NotContains(t, toolNames(last(k)), "a")
	assert.Equal(t, model.Success, turn.Calls()[0].Status)
	added.Revoke()
}

// FIELD-O11
func TestToolsThatAppearLaterAreInTheNextTurn(t *testing.T) {
	passes := 0
	k := kerneltest.Start(t, kerneltest.Script(), contrib.Supply[tool.Source](tool.Sources,
		tool.SourceFunc("grows", func(context.Context, tool.Planning) ([]tool.Registration, error) {
			passes++
			list := []tool.Registration{reading("a", answering("A")), reading("b", answering("B"))}
			return list[:min(passes, 2)], nil
		})))
	k.Run("one")
	assert.Equal(t, []string{"a"}, toolNames(last(k)))
	k.Run("two")
	assert.Equal(t, []string{"a", "b"}, toolNames(last(k)))
}

// FIELD-O15
func TestPluginThatIsDisabledBetweenTwoCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k *kerneltest.Kernel
		one := writing("one", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			go func() {
				_, _ = k.Plugins.SetEnabled(context.Background(), "acme.p", false, plugins.ScopeProcess)
			}()
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})
		k = kerneltest.Start(t, kerneltest.Script(calls("one", `{}`, "two", `{}`), say("done")),
			kerneltest.Plugins(plugin("acme.p", source(one, writing("two", answering("2"))))))
		turn := k.Run("go")
		require.Len(t, turn.Calls(), 2)
		assert.Equal(t, tool.CodeUnavailable, turn.Calls()[0].Code)
		assert.Equal(t, tool.CodeUnavailable, turn.Calls()[1].Code)
		assert.Equal(t, kernel.Completed, turn.Result.Stop)
	})
}

// TOOL-13
func TestRefusalLeavesNoRecord(t *testing.T) {
	var mu sync.Mutex
	recorded, hooked := 0, 0
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a"}`)), kerneltest.Tools(abc().tool()),
		kerneltest.Plugins(plugin("acme.p",
			contrib.Supply[dispatch.Policy](dispatch.Policies, dispatch.PolicyFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
				return dispatch.Verdict{}, nil
			})),
			contrib.Supply[dispatch.Recorder](dispatch.Recorders, recorder(func() {
				mu.Lock()
				defer mu.Unlock()
				recorded++
			})),
			contrib.Supply[hook.ToolResult](hook.ToolResults, hook.ToolResultFunc(func(context.Context, hook.Call, hook.Result) (*hook.Result, error) {
				hooked++
				return nil, nil
			})),
		)))
	turn := k.Run("go")
	assert.Zero(t, recorded)
	assert.Zero(t, hooked)
	assert.False(t, turn.Calls()[0].Executed)
	assert.Empty(t, stored[*threadlog.Call](t, k, k.Thread()))
}

type recorder func()

func (r recorder) Started(context.Context, dispatch.Call) error {
	r()
	return nil
}

func (r recorder) Ended(context.Context, dispatch.Call, tool.Result, time.Duration) error {
	r()
	return nil
}

// TOOL-14 (3)
func TestToolThatCallsItselfWithoutEnd(t *testing.T) {
	deepest := ""
	again := reading("again", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
		r, err := i.Call(ctx, "again", json.RawMessage(`{}`))
		if err == nil && r.Error != nil && deepest == "" {
			deepest = r.Error.Code
		}
		return tool.Text("up"), err
	})
	k := kerneltest.Start(t, kerneltest.Script(call("again", `{}`)), kerneltest.Tools(again))
	turn := k.Run("go")
	assert.Equal(t, tool.CodeCallDepthExceeded, deepest)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Len(t, turn.Calls(), 10, "nine levels run, the tenth is refused")
}
