package kernel_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// FIELD-W1
func TestTheSameCallForEver(t *testing.T) {
	f := abc()
	var steps []kerneltest.Step
	for range 20 {
		steps = append(steps, call("read", `{"path":"a"}`))
	}
	k := kerneltest.Start(t, kerneltest.Script(steps...), kerneltest.Tools(f.tool()))
	turn := k.Run("go")
	assert.Equal(t, kernel.LoopDetected, turn.Result.Stop)
	assert.Len(t, f.seen(), 5)
	require.Len(t, turn.Calls(), 7)
	assert.Equal(t, tool.CodeLoopDetected, turn.Calls()[5].Code)
	assert.Equal(t, tool.CodeLoopDetected, turn.Calls()[6].Code)
	assert.False(t, turn.Calls()[5].Executed)
}

func TestAnotherCallStartsTheCountAnew(t *testing.T) {
	f := abc()
	var steps []kerneltest.Step
	for i := range 12 {
		path := "a"
		if i == 5 {
			path = "b"
		}
		steps = append(steps, call("read", `{"path":"`+path+`"}`))
	}
	k := kerneltest.Start(t, kerneltest.Script(append(steps, say("done"))...), kerneltest.Tools(f.tool()))
	turn := k.Run("go")
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Len(t, f.seen(), 11, "the sixth of the second row is refused once")
}

func TestStopReasons(t *testing.T) {
	read := call("read", `{"path":"a"}`)
	with := func(s kerneltest.Step, text string, finish model.Finish) kerneltest.Step {
		s.Text, s.Finish, s.Raw = text, finish, "word"
		return s
	}
	for _, c := range []struct {
		name   string
		steps  []kerneltest.Step
		limits kernel.Limits
		stop   kernel.StopReason
		ran    int
		text   string
	}{
		{"completed", []kerneltest.Step{say("hi")}, kernel.Limits{}, kernel.Completed, 0, "hi"},
		{"a finish of stop with calls", []kerneltest.Step{with(read, "", model.FinishStop), say("hi")}, kernel.Limits{}, kernel.Completed, 1, "hi"},
		{"tool calls without a call", []kerneltest.Step{with(say("hi"), "hi", model.FinishToolCalls)}, kernel.Limits{}, kernel.Completed, 0, "hi"},
		{"truncated", []kerneltest.Step{with(read, "half", model.FinishLength)}, kernel.Limits{}, kernel.OutputTruncated, 0, "half"},
		{"filtered", []kerneltest.Step{with(read, "half", model.FinishContentFilter)}, kernel.Limits{}, kernel.ContentFiltered, 0, "half"},
		{"overflow as a finish", []kerneltest.Step{with(read, "half", model.FinishContextOverflow)}, kernel.Limits{}, kernel.ContextOverflow, 0, "half"},
		{"another finish", []kerneltest.Step{with(read, "half", model.FinishOther)}, kernel.Limits{}, kernel.Failed, 0, "half"},
		{"a batch that does not fit", []kerneltest.Step{with(calls("read", `{"path":"a"}`, "read", `{"path":"b"}`), "two", "")}, kernel.Limits{ToolCalls: 1}, kernel.ToolCallLimitReached, 0, "two"},
		{"no tool calls at all", []kerneltest.Step{read}, kernel.Limits{ToolCalls: kernel.NoToolCalls}, kernel.ToolCallLimitReached, 0, ""},
		{"one model call", []kerneltest.Step{with(read, "first", "")}, kernel.Limits{ModelCalls: 1}, kernel.ModelCallLimitReached, 1, "first"},
		{"a provider's failure", []kerneltest.Step{{Err: errors.New("no")}}, kernel.Limits{}, kernel.Failed, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := abc()
			k := kerneltest.Start(t, kerneltest.Script(c.steps...), kerneltest.Tools(f.tool()))
			turn := k.RunInput(t.Context(), kernel.Input{Text: "go", Limits: c.limits})
			assert.Equal(t, c.stop, turn.Result.Stop)
			assert.Len(t, f.seen(), c.ran)
			assert.Equal(t, c.text, turn.Result.Text)
			ends := stored[*threadlog.TurnEnd](t, k, k.Thread())
			require.Len(t, ends, 1)
			assert.Equal(t, string(c.stop), ends[0].Stop)
			assert.Equal(t, c.ran, ends[0].ToolCalls)
			if c.ran == 0 {
				assert.Empty(t, stored[*threadlog.Result](t, k, k.Thread()))
			}
			failed := len(kerneltest.All[kernel.Failure](turn))
			assert.Equal(t, c.stop == kernel.Failed || c.stop == kernel.ContextOverflow, failed == 1)
			_, last := turn.Events[len(turn.Events)-1].(kernel.TurnEnded)
			assert.True(t, last)
		})
	}
}

func TestUnknownFinishIsNotedWithTheProvidersWord(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(kerneltest.Step{Text: "x", Finish: model.FinishOther, Raw: "galaxy"}))
	turn := k.Run("go")
	require.Len(t, turn.Notes(), 1)
	assert.Equal(t, kernel.CodeFinishUnknown, turn.Notes()[0].Code)
	assert.Contains(t, turn.Notes()[0].Message, "galaxy")
}

func TestDurationLimitCancelsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := kerneltest.Start(t, kerneltest.Script(call("sleep", `{}`)), kerneltest.Tools(sleeper(make(chan struct{}, 1))))
		start := time.Now()
		turn := k.RunInput(t.Context(), kernel.Input{Text: "go", Limits: kernel.Limits{Duration: time.Minute}})
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Equal(t, kernel.DurationLimitReached, turn.Result.Stop)
		assert.Equal(t, tool.CodeCancelled, turn.Calls()[0].Code)
	})
}

// Subcalls count against the tool calls of the turn.
func TestSubcallsSpendTheBudget(t *testing.T) {
	codes := []string{}
	outer := reading("outer", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
		for n := range 3 {
			r, err := i.Call(ctx, "read", []byte(`{"path":"`+strconv.Itoa(n)+`"}`))
			if err != nil {
				return tool.Result{}, err
			}
			codes = append(codes, r.Error.Code)
		}
		return tool.Text("done"), nil
	})
	k := kerneltest.Start(t, kerneltest.Script(call("outer", `{}`)), kerneltest.Tools(outer, abc().tool()))
	turn := k.RunInput(t.Context(), kernel.Input{Text: "go", Limits: kernel.Limits{ToolCalls: 3}})
	assert.Equal(t, []string{"file_missing", "file_missing", tool.CodeUnavailable}, codes)
	assert.Equal(t, 3, turn.Result.ToolCalls)
}

// FIELD-V3, seen from the kernel: what the last attempt brought is kept and never sent again.
func TestPartialReplyOfAFailedTurn(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(
		kerneltest.Step{Reasoning: "thinking", Text: "so far", Err: &model.Error{Code: model.CodeStreamEnded, Message: "gone"}}, say("fine")))
	turn := k.Run("go")
	require.Len(t, kerneltest.All[kernel.Failure](turn), 1)
	failure := kerneltest.All[kernel.Failure](turn)[0]
	assert.Equal(t, "so far", failure.Partial)
	assert.Equal(t, model.CodeStreamEnded, failure.Code)
	partial := stored[*threadlog.Partial](t, k, k.Thread())
	require.Len(t, partial, 1)
	assert.Equal(t, "so far", partial[0].Text)
	assert.Equal(t, "thinking", partial[0].Reasoning)
	k.Run("next")
	assert.Equal(t, []string{"user: go", "user: next"}, texts(last(k).Items))
}

// A panic inside the host fails the turn and nothing else.
func TestPanicOfTheHostFailsTheTurn(t *testing.T) {
	bad := true
	k := kerneltest.Start(t, kerneltest.Script(say("fine")), contrib.Supply(model.Middlewares,
		model.MiddlewareFunc("bad", func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
			return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
				if bad {
					panic("secret-123")
				}
				return next.Round(ctx, r, emit)
			}), nil
		})))
	turn := k.Run("go")
	assert.Equal(t, kernel.Failed, turn.Result.Stop)
	assert.False(t, contains(t, turn.Events, "secret-123"))
	bad = false
	assert.Equal(t, kernel.Completed, k.Run("next").Result.Stop)
}

func TestInputsThatMakeNoTurn(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script())
	th := k.Thread()
	for name, c := range map[string]struct {
		in   kernel.Input
		want error
	}{
		"blank":         {kernel.Input{Text: " \n"}, kernel.ErrBlank},
		"a mode":        {kernel.Input{Text: "x", Mode: "party"}, kernel.ErrMode},
		"no image":      {kernel.Input{Text: "x", Images: []kernel.Image{{MediaType: "image/png", Data: []byte("x")}}}, threadlog.ErrImage},
		"no such image": {kernel.Input{Images: []kernel.Image{{MediaType: "text/plain"}}}, threadlog.ErrImage},
	} {
		_, err := th.Run(t.Context(), c.in, nil)
		assert.ErrorIs(t, err, c.want, name)
	}
	_, _, err := k.Threads().Read(t.Context(), th.ID())
	require.ErrorIs(t, err, threadlog.ErrNotFound, "nothing was stored")
}
