package kernel_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// sleeper runs until it is cancelled. It says when it has begun.
func sleeper(began chan<- struct{}) tool.Registration {
	return writing("sleep", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
		began <- struct{}{}
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
}

// operator makes an operator of a function.
func operator(f approval.OperatorFunc) fx.Option {
	return fx.Supply(fx.Annotate(f, fx.As(new(approval.Operator))))
}

// FIELD-H1
func TestCancelWhileAToolRuns(t *testing.T) {
	began := make(chan struct{}, 1)
	k := kerneltest.Start(t, kerneltest.Script(calls("sleep", `{}`, "sleep", `{"n":2}`), say("fine")), kerneltest.Tools(sleeper(began)))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	turn := k.RunInput(ctx, kernel.Input{Text: "go"})
	assert.Equal(t, kernel.Interrupted, turn.Result.Stop)
	require.Len(t, turn.Calls(), 2)
	assert.Equal(t, tool.CodeCancelled, turn.Calls()[0].Code)
	assert.Equal(t, tool.CodeInterrupted, turn.Calls()[1].Code, "it had not started")
	ends := stored[*threadlog.TurnEnd](t, k, k.Thread())
	require.Len(t, ends, 1)
	assert.Equal(t, string(kernel.Interrupted), ends[0].Stop)
	assert.Equal(t, "fine", k.Run("next").Result.Text)
	got := results(last(k))
	require.Len(t, got, 2)
	assert.Equal(t, model.Cancelled, got[0].Status)
	assert.Equal(t, model.Interrupted, got[1].Status)
}

// FIELD-H2: a cancel does not hit what comes after it.
func TestCancelDoesNotHitTheNextTurn(t *testing.T) {
	began := make(chan struct{}, 1)
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Tools(sleeper(began)))
	th := k.Thread()
	for range 200 {
		k.Model.Then(call("sleep", `{}`), say("next"))
		ctx, cancel := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() {
			r, err := th.Run(ctx, kernel.Input{Text: "one"}, nil)
			assert.NoError(t, err)
			assert.Equal(t, kernel.Interrupted, r.Stop)
		})
		<-began
		cancel()
		r, err := th.Run(t.Context(), kernel.Input{Text: "two"}, nil)
		require.NoError(t, err)
		require.Equal(t, kernel.Completed, r.Stop)
		first.Wait()
	}
}

// FIELD-H3: the clean-up of one turn does not disarm the cancel of the next.
func TestCancelReachesAQueuedTurn(t *testing.T) {
	began := make(chan struct{}, 1)
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Tools(sleeper(began)))
	th := k.Thread()
	for range 500 {
		entered := make(chan struct{})
		k.Model.Then(kerneltest.Step{Text: "one", Before: func(context.Context, *model.Request) error {
			close(entered)
			return nil
		}}, call("sleep", `{}`))
		var first sync.WaitGroup
		first.Go(func() {
			_, err := th.Run(t.Context(), kernel.Input{Text: "one"}, nil)
			assert.NoError(t, err)
		})
		<-entered
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-began
			cancel()
		}()
		r, err := th.Run(ctx, kernel.Input{Text: "two"}, nil)
		require.NoError(t, err)
		require.Equal(t, kernel.Interrupted, r.Stop)
		first.Wait()
	}
}

// FIELD-H4
func TestCancelInTheMiddleOfACallThatStreamsIn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k := kerneltest.Start(t, kerneltest.Script(
		kerneltest.Step{Text: "so far", Calls: []kerneltest.Call{{Name: "read", Arguments: `{"path":"a"}`}}}, say("fine")),
		kerneltest.Tools(abc().tool()))
	th := k.Thread()
	r, err := th.Run(ctx, kernel.Input{Text: "go"}, func(e kernel.Event) {
		if d, ok := e.(kernel.CallDelta); ok && d.Start {
			cancel()
		}
	})
	require.NoError(t, err)
	assert.Equal(t, kernel.Interrupted, r.Stop)
	assert.Empty(t, stored[*threadlog.Round](t, k, th))
	assert.Empty(t, stored[*threadlog.Call](t, k, th))
	partial := stored[*threadlog.Partial](t, k, th)
	require.Len(t, partial, 1)
	assert.Equal(t, "so far", partial[0].Text)
	assert.Equal(t, "fine", k.Run("next").Result.Text)
	assert.Equal(t, []string{"user: go", "user: next"}, texts(last(k).Items))
}

type cancelsAtStart context.CancelFunc

func (c cancelsAtStart) TurnStarted(context.Context, hook.Turn) error {
	c()
	return nil
}
func (cancelsAtStart) TurnFinished(context.Context, hook.Turn) error { return nil }

// FIELD-H5
func TestCancelBeforeTheRequestIsSent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k := kerneltest.Start(t, kerneltest.Script(), contrib.Supply[hook.TurnObserver](hook.Turns, cancelsAtStart(cancel)))
	turn := k.RunInput(ctx, kernel.Input{Text: "go"})
	assert.Equal(t, kernel.Interrupted, turn.Result.Stop)
	assert.Empty(t, k.Model.Requests())
	assert.Len(t, stored[*threadlog.Turn](t, k, k.Thread()), 1, "the user message stays stored")
}

// FIELD-H7
func TestToolThatDoesNotListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		began := make(chan struct{}, 1)
		k := kerneltest.Start(t, kerneltest.Script(call("deaf", `{}`), say("next")), kerneltest.Plugins(plugin("acme.p",
			source(writing("deaf", func(context.Context, tool.Invocation) (tool.Result, error) {
				began <- struct{}{}
				<-release
				return tool.Text("late news"), nil
			})))))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-began
			cancel()
		}()
		start := time.Now()
		turn := k.RunInput(ctx, kernel.Input{Text: "go"})
		assert.Equal(t, 2*time.Second, time.Since(start))
		assert.Equal(t, kernel.Interrupted, turn.Result.Stop)
		assert.Equal(t, tool.CodeCancelled, turn.Calls()[0].Code)
		r, err := k.Plugins.SetEnabled(t.Context(), "acme.p", false, plugins.ScopeProcess)
		require.NoError(t, err)
		status, _ := k.Plugins.Snapshot().Find("acme.p")
		assert.Equal(t, plugins.Deactivating, status.State, "%+v", r)
		close(release)
		synctest.Wait()
		status, _ = k.Plugins.Snapshot().Find("acme.p")
		assert.NotEqual(t, plugins.Deactivating, status.State)
		after := k.Run("next")
		assert.False(t, contains(t, after.Events, "late news"))
		assert.NotContains(t, results(last(k))[0].Text, "late news")
	})
}

// FIELD-H8
func TestOrderOfEventsAroundAnApproval(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(call("change", `{"a":"1"}`), say("ok"), call("change", `{"a":"2"}`), say("ok")),
		kerneltest.Tools(writing("change", answering("ran"))), kerneltest.Answers(approval.Once, approval.No))
	th := k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault})
	yes := k.RunOn(t.Context(), th, kernel.Input{Text: "one"})
	assert.Equal(t, []string{"call_pending", "approval_asked", "approval_answered", "call_started", "call_ended"}, types(yes, "c1"))
	asked := kerneltest.All[kernel.ApprovalAsked](yes)[0]
	assert.Equal(t, "change", asked.Tool)
	assert.Equal(t, []kernel.Argument{{Name: "a", Text: "1"}}, asked.Arguments)
	answered := kerneltest.All[kernel.ApprovalAnswered](yes)[0]
	assert.Equal(t, kernel.ApprovalAnswered{CallID: "c1", Allowed: true, By: approval.ByOperator, Scope: approval.ScopeOnce}, answered)

	no := k.RunOn(t.Context(), th, kernel.Input{Text: "two"})
	assert.Equal(t, []string{"call_pending", "approval_asked", "approval_answered", "call_ended"}, types(no, "c2"))
	assert.False(t, kerneltest.All[kernel.ApprovalAnswered](no)[0].Allowed)
	assert.Equal(t, model.Denied, no.Calls()[0].Status)
	assert.Equal(t, 1, no.Result.Denials)
}

// A grant for the session ends when the thread is closed.
func TestGrantsOfTheSessionEndWithIt(t *testing.T) {
	same := call("change", `{"a":"1"}`)
	k := kerneltest.Start(t, kerneltest.Script(same, say("ok"), same, say("ok"), same, say("ok")),
		kerneltest.Plugins(plugin("acme.a", contrib.Supply(tool.Sources, tool.Fixed("acme.a", writing("change", answering("ran")))))),
		kerneltest.Answers(approval.Session, approval.No))
	th := k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault})
	run := func() kernel.CallEnded { return k.RunOn(t.Context(), th, kernel.Input{Text: "go"}).Calls()[0] }
	assert.Equal(t, approval.ByOperator, run().By)
	assert.Equal(t, approval.ByGrant, run().By)
	require.NoError(t, th.Close(t.Context()))
	var err error
	th, err = k.Open(t.Context(), th.ID(), kernel.Options{})
	require.NoError(t, err)
	again := run()
	assert.Equal(t, approval.ByOperator, again.By)
	assert.True(t, again.Denied)
	assert.Len(t, k.Operator.Asked(), 2)
}

// The prompt reaches the listener before the operator answers, for calls of the model and of tools.
func TestPromptIsInTheStreamWhileTheOperatorThinks(t *testing.T) {
	var asked atomic.Int32
	think := operator(func(ctx context.Context, _ approval.Prompt) (approval.Answer, error) {
		for asked.Load() == 0 {
			if ctx.Err() != nil {
				return approval.Answer{}, ctx.Err()
			}
		}
		asked.Add(-1)
		return approval.Answer{Choice: approval.Once}, nil
	})
	outer := reading("outer", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
		return i.Call(ctx, "change", []byte(`{}`))
	})
	k := kerneltest.Start(t, kerneltest.Script(calls("change", `{}`, "outer", `{}`)), think,
		kerneltest.Tools(outer, writing("change", answering("ran"))))
	th := k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault})
	r, err := th.Run(t.Context(), kernel.Input{Text: "go"}, func(e kernel.Event) {
		if _, ok := e.(kernel.ApprovalAsked); ok {
			asked.Add(1)
		}
	})
	require.NoError(t, err)
	assert.Equal(t, kernel.Completed, r.Stop)
	assert.Equal(t, 0, r.Denials)
}

// FIELD-H9
func TestOpenPromptBlocksOnlyItsOwnThread(t *testing.T) {
	waits, answer := make(chan struct{}), make(chan struct{})
	k := kerneltest.Start(t, kerneltest.Script(call("change", `{}`)), kerneltest.Tools(writing("change", answering("ran"))),
		operator(func(context.Context, approval.Prompt) (approval.Answer, error) {
			close(waits)
			<-answer
			return approval.Answer{Choice: approval.Once}, nil
		}))
	a, b := k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault}), k.NewThread(kernel.Options{})
	var done sync.WaitGroup
	done.Go(func() {
		r, err := a.Run(t.Context(), kernel.Input{Text: "go"}, nil)
		assert.NoError(t, err)
		assert.Equal(t, kernel.Completed, r.Stop)
	})
	<-waits
	assert.Equal(t, kernel.Completed, k.RunOn(t.Context(), b, kernel.Input{Text: "b"}).Result.Stop)
	assert.NotNil(t, k.NewThread(kernel.Options{}))
	close(answer)
	done.Wait()
}

// FIELD-H10
func TestCancelWhileWaitingToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := kerneltest.Start(t, kerneltest.Script(kerneltest.Step{Err: &model.Error{
			Code: model.CodeHTTP, Status: 429, Retryable: true, HasRetry: true, RetryAfter: 30 * time.Second,
		}}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		turn := k.RunInput(ctx, kernel.Input{Text: "go"})
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, kernel.Interrupted, turn.Result.Stop)
		time.Sleep(time.Hour)
		assert.Len(t, k.Model.Requests(), 1)
	})
}

// FIELD-H11
func TestCancelStaysInItsThread(t *testing.T) {
	began := make(chan struct{}, 2)
	finish := make(chan struct{})
	k := kerneltest.Start(t, kerneltest.Script(call("sleep", `{}`), call("sleep", `{}`)), kerneltest.Tools(
		writing("sleep", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			began <- struct{}{}
			select {
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			case <-finish:
				return tool.Text("slept"), nil
			}
		})))
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	run := func(ctx context.Context, want kernel.StopReason) {
		th := k.NewThread(kernel.Options{})
		done.Go(func() {
			r, err := th.Run(ctx, kernel.Input{Text: "go"}, nil)
			assert.NoError(t, err)
			assert.Equal(t, want, r.Stop)
			if want == kernel.Interrupted {
				close(finish)
			}
		})
	}
	run(ctx, kernel.Interrupted)
	run(t.Context(), kernel.Completed)
	<-began
	<-began
	cancel()
	done.Wait()
}

// Leaving the loop over the events interrupts the turn, which has ended when the loop has.
func TestLeavingTheLoopInterruptsTheTurn(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a"}`), say("never")), kerneltest.Tools(abc().tool()))
	turn := k.Thread().Start(t.Context(), kernel.Input{Text: "go"})
	for e := range turn.Events() {
		if _, ok := e.(kernel.CallPending); ok {
			break
		}
	}
	r, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, kernel.Interrupted, r.Stop)
	for range turn.Events() {
		t.Fatal("a turn runs once")
	}
	assert.Len(t, stored[*threadlog.TurnEnd](t, k, k.Thread()), 1)
}

// A panic of a listener is its own; the thread can be used afterwards.
func TestPanickingListenerLeavesAThreadThatWorks(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a"}`), say("fine")), kerneltest.Tools(abc().tool()))
	assert.PanicsWithValue(t, "mine", func() {
		_, _ = k.Thread().Run(t.Context(), kernel.Input{Text: "go"}, func(e kernel.Event) {
			if _, ok := e.(kernel.CallStarted); ok {
				panic("mine")
			}
		})
	})
	assert.Equal(t, "fine", k.Run("next").Result.Text)
}

// Stopping the kernel ends what runs, with everything stored.
func TestStopInterruptsRunningTurns(t *testing.T) {
	began := make(chan struct{}, 1)
	k := kerneltest.Start(t, kerneltest.Script(call("sleep", `{}`)), kerneltest.Tools(sleeper(began)))
	th := k.Thread()
	var done sync.WaitGroup
	done.Go(func() {
		r, err := th.Run(t.Context(), kernel.Input{Text: "go"}, nil)
		assert.NoError(t, err)
		assert.Equal(t, kernel.Interrupted, r.Stop)
	})
	<-began
	require.NoError(t, k.Stop(t.Context()))
	done.Wait()
	_, err := th.Run(t.Context(), kernel.Input{Text: "more"}, nil)
	require.ErrorIs(t, err, kernel.ErrThreadClosed)
	_, err = k.Create(t.Context(), kernel.Options{})
	require.ErrorIs(t, err, kernel.ErrStopped)
}
