package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
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
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/trace"
)

// listens writes down the signals that it gets.
func listens(d *diary) thread.SignalObserver {
	return thread.SignalFunc(func(_ context.Context, s thread.Signal) error {
		line := string(s.Kind) + " " + s.Turn
		if s.CallID != "" {
			line += " " + s.CallID
		}
		return d.note(line)
	})
}

func TestSignalsOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		k := kerneltest.Start(t, kerneltest.Script(call("change", `{}`), say("ok"), say("plan"), say("summary")),
			kerneltest.Tools(writing("change", answering("ran"))), kerneltest.Answers(approval.Once),
			contrib.Supply(thread.Signals, listens(d)))
		th := k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault})
		k.RunOn(t.Context(), th, kernel.Input{Text: "1"})
		k.RunOn(t.Context(), th, kernel.Input{Text: "2", Mode: kernel.ModePlan})
		_, err := th.Compact(t.Context(), "", nil)
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, []string{
			"turn_started t1", "approval_requested t1 c1", "approval_resolved t1 c1", "turn_completed t1",
			"turn_started t2", "turn_awaiting_plan_confirmation t2", "turn_completed t2",
			"maintenance_compacting_started ", "context_compacted ", "maintenance_completed ",
		}, d.all())
	})
}

// POINT-4, over turns: 500 of them make 1,000 signals.
func TestSignalsNeverWaitForAnObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, c := &diary{}, &diary{}
		stalled, got := make(chan struct{}), 0
		k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
			contrib.Supply(thread.Signals, listens(a)),
			contrib.Supply[thread.SignalObserver](thread.Signals, thread.SignalFunc(func(ctx context.Context, _ thread.Signal) error {
				got++
				select {
				case <-stalled:
				case <-ctx.Done():
				}
				return nil
			}), contrib.Deadline(10*time.Minute)))))
		for i := range 500 {
			k.Run(strconv.Itoa(i))
			synctest.Wait() // a takes what there is
		}
		lines := a.all()
		require.Len(t, lines, 1000)
		assert.Equal(t, "turn_started t1", lines[0])
		assert.Equal(t, "turn_completed t500", lines[999])
		handle, err := thread.Signals.Add(k.Registry().Builtin(), listens(c))
		require.NoError(t, err)
		k.Run("last")
		synctest.Wait()
		assert.Equal(t, []string{"turn_started t501", "turn_completed t501"}, c.all())
		assert.Equal(t, 1, got)
		close(stalled)
		synctest.Wait()
		assert.LessOrEqual(t, got, 257)
		handle.Revoke()
	})
}

// sink takes trace events.
type sink struct{ *diary }

func (sink) Name() string { return "sink" }
func (s sink) Record(_ context.Context, e trace.Event) error {
	return s.note(e.Type)
}

func TestTraceSinksGetEveryEventOfATurn(t *testing.T) {
	d := &diary{}
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a"}`), say("done")), kerneltest.Tools(abc().tool()),
		contrib.Supply[trace.Sink](trace.Sinks, sink{d}))
	r, err := k.Thread().Run(t.Context(), kernel.Input{Text: "go"}, nil)
	require.NoError(t, err)
	assert.Equal(t, kernel.Completed, r.Stop)
	require.NoError(t, k.Stop(t.Context()), "a stopping kernel waits for its sinks")
	assert.Equal(t, []string{
		"turn_started", "round_started", "call_delta", "call_delta", "call_delta", "model_round", "round_committed", "call_pending",
		"call_started", "call_ended", "round_started", "text_delta", "model_round", "round_committed", "turn_ended",
	}, d.all())
}

// What fails each time is told once.
func TestASinkThatAlwaysFailsIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	k := kerneltest.Start(t, kerneltest.Script(say("one"), say("two")),
		fx.Decorate(func() *slog.Logger { return slog.New(slog.NewTextHandler(&log, nil)) }),
		contrib.Supply(trace.Sinks, trace.SinkFunc("bad", func(context.Context, trace.Event) error { return errors.New("no disk") })))
	k.Run("go")
	k.Run("on")
	require.NoError(t, k.Stop(t.Context()))
	assert.Equal(t, 1, strings.Count(log.String(), "contribution failed"))
	assert.Contains(t, log.String(), "no disk")
}

// An event says in whose turn it happened: the requests of a subagent are part of the turn that started it.
func TestTracesOfASubagentAreThoseOfTheTurnThatStartedIt(t *testing.T) {
	d := &diary{}
	k, _ := play(t, map[string][]kerneltest.Step{"go": {say("first"), task("explore", "look"), say("done")}, "look": {say("seen")}},
		contrib.Supply(trace.Sinks, trace.SinkFunc("rounds", func(_ context.Context, e trace.Event) error {
			if e.Type != kernel.ModelRound {
				return nil
			}
			return d.note(e.Thread + " " + e.Turn)
		})))
	th := k.NewThread(kernel.Options{})
	k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	k.RunOn(t.Context(), th, kernel.Input{Text: "on"})
	require.NoError(t, k.Stop(t.Context()))
	second := th.ID() + " t2"
	assert.Equal(t, []string{th.ID() + " t1", second, second, second}, d.all())
}
