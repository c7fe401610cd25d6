package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
)

// lifecycle describes the turn to observers.
func (t *turn) lifecycle() thread.Turn {
	r := &t.plan.request
	return thread.Turn{
		Thread: t.thread.id, ID: t.id, Workspace: t.thread.workspace, Mode: t.mode, Agent: t.thread.agent(),
		Provider: r.Provider, Model: r.Model,
	}
}

func (t *turn) hookTurn() hook.Turn {
	return hook.Turn{Scope: t.thread.scope(t.id), Mode: t.mode, UserText: t.text, StopReason: string(t.result.Stop)}
}

// observeStart tells everybody that the turn is active. A cancellation ends it, and the rounds find it.
func (t *turn) observeStart(ctx context.Context) {
	id := contrib.ThreadID(t.thread.id)
	v := t.kernel.registry.View()
	if entries := hook.Turns.Entries(v, id); len(entries) > 0 && t.thread.child == nil {
		info := t.hookTurn()
		_ = contrib.FanOut(ctx, entries, func(ctx context.Context, o hook.TurnObserver) error { return o.TurnStarted(ctx, info) }, t.report)
	}
	if entries := thread.TurnObservers.Entries(v, id); len(entries) > 0 {
		info := t.lifecycle()
		t.begun = told(ctx, entries, func(ctx context.Context, o thread.TurnObserver) error { return o.TurnStarted(ctx, info) }, t.report)
	}
	if t.thread.child == nil { // what a subagent does is part of the turn that started it
		t.kernel.signal(thread.TurnStarted, t.thread, t.id, "")
	}
}

// told runs FanOut and returns the ids of the entries that were called.
func told[T any](ctx context.Context, entries []contrib.Entry[T], call func(context.Context, T) error, report contrib.Report) []uint64 {
	ids := make([]uint64, 0, len(entries))
	_ = contrib.FanOut(ctx, entries, func(ctx context.Context, o T) error {
		ids = append(ids, entries[len(ids)].ID)
		return call(ctx, o)
	}, report)
	return ids
}

// among returns those of the entries that have one of the ids: they were told of a beginning, and are told of its end.
func among[T any](entries []contrib.Entry[T], ids []uint64) []contrib.Entry[T] {
	var out []contrib.Entry[T]
	for i := range entries {
		if slices.Contains(ids, entries[i].ID) {
			out = append(out, entries[i])
		}
	}
	return out
}

// finish stores the end of the turn and tells everybody.
func (t *turn) finish(ctx context.Context) {
	res := &t.result
	t.settle()
	if res.Stop != Completed {
		t.keepPartial()
	}
	end := &struct { // one piece of memory for both
		record threadlog.TurnEnd
		usage  model.Usage
	}{threadlog.TurnEnd{
		Turn: t.id, Stop: string(res.Stop), ModelCalls: res.ModelCalls, ToolCalls: res.ToolCalls, Denials: res.Denials,
	}, res.Usage}
	end.record.Usage = &end.usage
	err := t.thread.log.Append(&end.record)
	if err != nil && res.Stop != Failed {
		res.Stop, res.Err = Failed, fmt.Errorf("kernel: store the end of the turn: %w", err)
	}
	if res.Stop == Failed || res.Stop == ContextOverflow {
		t.send(t.failure())
	}
	t.observeEnd(ctx)
	if res.Stop.status() == thread.Completed && t.thread.child == nil {
		t.compactAfter(ctx)
	}
	t.send(TurnEnded{Result: *res})
}

// observeEnd tells everybody that the turn is over. The end of ctx does not keep it from that.
func (t *turn) observeEnd(ctx context.Context) {
	id := contrib.ThreadID(t.thread.id)
	v := t.kernel.registry.View()
	status := t.result.Stop.status()
	if entries := hook.Turns.Entries(v, id); len(entries) > 0 && t.thread.child == nil {
		info := t.hookTurn()
		_ = contrib.FanOut(context.WithoutCancel(ctx), entries, func(ctx context.Context, o hook.TurnObserver) error { return o.TurnFinished(ctx, info) }, t.report)
	}
	if entries := among(thread.TurnObservers.Entries(v, id), t.begun); len(entries) > 0 {
		info := t.lifecycle()
		var cause error
		if status != thread.Completed {
			cause = errors.New(string(t.result.Stop))
		}
		_ = contrib.FanOut(context.WithoutCancel(ctx), entries, func(ctx context.Context, o thread.TurnObserver) error {
			return o.TurnEnded(ctx, info, status, cause)
		}, t.report)
	}
	if t.thread.child != nil {
		return
	}
	if t.result.Stop == Completed && t.mode == ModePlan {
		t.kernel.signal(thread.TurnAwaitingPlanConfirmation, t.thread, t.id, "")
	}
	kind := thread.TurnCompleted
	switch status {
	case thread.Failed:
		kind = thread.TurnFailed
	case thread.Cancelled:
		kind = thread.TurnCancelled
	}
	t.kernel.signal(kind, t.thread, t.id, "")
}

// keepPartial stores what an attempt brought that came to no candidate. It is never sent again.
func (t *turn) keepPartial() {
	text, reasoning := string(t.attempt.text), string(t.attempt.reasoning)
	if text == "" && reasoning == "" {
		return
	}
	err := t.thread.log.Append(&threadlog.Partial{Turn: t.id, Text: text, Reasoning: reasoning})
	if err != nil {
		t.kernel.log.Error("what the last attempt brought was not stored", "thread", t.thread.id, "turn", t.id, "error", err)
	}
}

// failure is the event that says why the turn failed.
func (t *turn) failure() Failure {
	f := Failure{Code: string(t.result.Stop), Partial: string(t.attempt.text)}
	if provider, ok := errors.AsType[*model.Error](t.result.Err); ok {
		f.Code, f.Message = provider.Code, provider.Error()
	} else if t.result.Err != nil {
		f.Message = t.result.Err.Error()
	}
	return f
}
