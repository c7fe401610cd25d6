package kernel_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestSubagentsSpendTheBudgetOfTheTurn(t *testing.T) {
	steps := func() map[string][]kerneltest.Step {
		return map[string][]kerneltest.Step{
			"go": {task("general", "do"), say("done")}, "do": {call("look", `{}`), call("look", `{}`), say("did")},
		}
	}
	k, _ := play(t, steps(), kerneltest.Tools(reading("look", answering("seen"))))
	turn := k.RunInput(t.Context(), kernel.Input{Text: "go", Limits: kernel.Limits{ToolCalls: 2}})
	assert.Equal(t, kernel.CodeSubagentFailed, callsOf(turn, "")[0].Code)
	assert.Contains(t, callsOf(turn, "")[0].Text, "tool_call_limit_reached")
	assert.Equal(t, 2, turn.Result.ToolCalls)

	k, _ = play(t, steps(), kerneltest.Tools(reading("look", answering("seen"))))
	turn = k.RunInput(t.Context(), kernel.Input{Text: "go", Limits: kernel.Limits{ModelCalls: 3}})
	assert.Contains(t, callsOf(turn, "")[0].Text, "model_call_limit_reached")
	assert.Equal(t, kernel.ModelCallLimitReached, turn.Result.Stop)
	assert.Equal(t, 3, turn.Result.ModelCalls)
}

func TestCancellingATurnEndsItsSubagents(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("general", "do")}, "do": {call("wait", `{}`), say("never")}},
		kerneltest.Tools(reading("wait", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			cancel()
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})))
	th := k.NewThread(kernel.Options{})
	turn := k.RunOn(ctx, th, kernel.Input{Text: "go"})
	assert.Equal(t, kernel.Interrupted, turn.Result.Stop)
	for _, c := range turn.Calls() {
		assert.Equal(t, tool.CodeCancelled, c.Code, c.Name)
	}
	require.Len(t, turn.Calls(), 2)
	p, _, err := k.Threads().Read(t.Context(), th.ID())
	require.NoError(t, err)
	assert.False(t, p.State().Open)
}

// Subagents that run at the same time never take more than there is.
func TestSubagentsShareTheBudget(t *testing.T) {
	steps := map[string][]kerneltest.Step{"go": {{}, say("done")}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		steps["go"][0].Calls = append(steps["go"][0].Calls, kerneltest.Call{Name: "task", Arguments: `{"profile":"general","task":"` + name + `"}`})
		for range 5 {
			steps[name] = append(steps[name], calls("look", `{"of":"`+name+`"}`, "look", `{}`))
		}
	}
	var ran atomic.Int64
	k, models := play(t, steps, kerneltest.Tools(reading("look", func(context.Context, tool.Invocation) (tool.Result, error) {
		ran.Add(1)
		return tool.Text("seen"), nil
	})))
	turn := k.RunInput(t.Context(), kernel.Input{Text: "go", Limits: kernel.Limits{ModelCalls: 12, ToolCalls: 17}})
	assert.Equal(t, int64(turn.Result.ToolCalls-6), ran.Load())
	assert.LessOrEqual(t, turn.Result.ToolCalls, 17)
	asked := 0
	for part := range steps {
		asked += len(models.of(part))
	}
	assert.Equal(t, turn.Result.ModelCalls, asked)
	assert.LessOrEqual(t, asked, 12)
}

func TestTheUsageOfASubagentIsThatOfTheTurn(t *testing.T) {
	k, _ := play(t, map[string][]kerneltest.Step{
		"go": {
			{Calls: []kerneltest.Call{{Name: "task", Arguments: `{"profile":"general","task":"do"}`}}, Usage: &model.Usage{Input: 1, Output: 2}},
			{Text: "done", Usage: &model.Usage{Input: 10, Output: 20}},
		},
		"do": {{Text: "did", Usage: &model.Usage{Input: 100, Output: 200}}},
	})
	turn := k.Run("go")
	assert.Equal(t, 111, turn.Result.Usage.Input)
	assert.Equal(t, 222, turn.Result.Usage.Output)
	ends := stored[*threadlog.TurnEnd](t, k, k.Thread())
	require.Len(t, ends, 1)
	assert.Equal(t, 111, ends[0].Usage.Input)
	assert.Equal(t, 3, ends[0].ModelCalls)
	assert.Zero(t, k.Run("again").Result.Usage.Input, "the next turn begins anew")
}

// A tool of a subagent that does not end is left behind in its time, and the subagent still says so in the log.
func TestAToolOfASubagentThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		k, _ := play(t, map[string][]kerneltest.Step{"go": {task("general", "do")}, "do": {call("stay", `{}`)}},
			kerneltest.Tools(reading("stay", func(context.Context, tool.Invocation) (tool.Result, error) {
				cancel()
				<-let
				return tool.Text("late"), nil
			})))
		th := k.NewThread(kernel.Options{})
		turn := k.RunOn(ctx, th, kernel.Input{Text: "go"})
		assert.Equal(t, kernel.Interrupted, turn.Result.Stop)
		results := stored[*threadlog.Result](t, k, th)
		require.Len(t, results, 2)
		assert.NotEmpty(t, results[0].Agent)
		for _, r := range results {
			assert.Equal(t, tool.CodeCancelled, r.Code)
		}
		close(let)
		require.NoError(t, k.Stop(t.Context()))
	})
}

// A subagent that cannot reach its model fails its task; the operator is told why, and the turn goes on.
func TestASubagentFails(t *testing.T) {
	k, _ := play(t, map[string][]kerneltest.Step{
		"go": {task("general", "do"), say("done")}, "do": {{Err: &model.Error{Code: "provider_http", Message: "401"}}},
	})
	turn := k.Run("go")
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Equal(t, kernel.CodeSubagentFailed, turn.Calls()[0].Code)
	assert.Empty(t, kerneltest.All[kernel.Failure](turn), "it is not the turn that failed")
	require.Len(t, turn.Notes(), 1)
	note := turn.Notes()[0]
	assert.Equal(t, "provider_http", note.Code)
	assert.Equal(t, "general", note.Agent)
	assert.Equal(t, contrib.Warning, note.Severity)
	data, err := kernel.MarshalEvent(note)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"agent":"general"`)
}

// A kernel that stops takes its subagents along.
func TestStoppingAKernelEndsSubagents(t *testing.T) {
	began := make(chan struct{}, 1)
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("general", "do")}, "do": {call("sleep", `{}`)}}, kerneltest.Tools(sleeper(began)))
	th := k.NewThread(kernel.Options{})
	ended := make(chan kernel.Result)
	go func() {
		r, err := th.Run(context.Background(), kernel.Input{Text: "go"}, nil)
		if err != nil && !errors.Is(err, kernel.ErrStopped) {
			t.Error(err)
		}
		ended <- r
	}()
	<-began
	stopped := make(chan error)
	go func() { stopped <- k.Stop(context.Background()) }()
	assert.Equal(t, kernel.Interrupted, (<-ended).Stop)
	require.NoError(t, <-stopped)
}

// A subagent makes room like any agent: in its own thread, and nothing of it is the parent's.
func TestASubagentIsCompacted(t *testing.T) {
	tooLong := kerneltest.Step{Err: &model.Error{Code: model.CodeContextOverflow, Kind: model.KindOverflow, Overflow: true}}
	k, models := play(t, map[string][]kerneltest.Step{
		"go":                     {task("general", "do"), say("done")},
		"do":                     {call("look", `{}`), tooLong},
		"## Earlier context\nok": {say("did")},
	}, kerneltest.Tools(reading("look", answering(strings.Repeat("seen ", 16_000)))))
	turn := k.Run("go")
	require.Equal(t, "did", callsOf(turn, "")[0].Text)
	assert.Len(t, models.of("## Earlier context\nok"), 1)
	assert.Empty(t, stored[*threadlog.Compaction](t, k, k.Thread()))
	assert.Equal(t, 5, turn.Result.ModelCalls, "two of the agent, three of the subagent")
}
