package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
)

// settings say when the thread of this turn is compacted.
func (t *turn) settings() compaction.Settings {
	r := &t.plan.request
	return compaction.Settings{
		Window: r.ContextWindow, Threshold: t.kernel.config.Threshold, MaxTokens: r.MaxTokens, Disabled: t.kernel.config.NoCompaction,
	}
}

func (t *turn) sends() estimate.Sends {
	r := &t.plan.request
	return estimate.Sends{Images: r.ImageInput, Reasoning: r.ReplayReasoning}
}

// load is the size of the next request.
func (t *turn) load() compaction.Load {
	th := t.thread
	reported, _ := th.meter.Total(t.plan.modelName)
	return compaction.Load{
		System: t.plan.promptTokens, Tools: t.plan.tokens + estimate.Tools(th.injected()),
		Items: th.counter.Items(th.log.Items(), t.sends()), Reported: reported,
	}
}

// makeRoom compacts the thread when that is due before the next round. A stop reason ends the turn.
func (t *turn) makeRoom(ctx context.Context) (StopReason, error) {
	t.brake.Round()
	if !compaction.Due(t.settings(), t.load()) || !t.brake.Allows() {
		return "", nil
	}
	return t.compactNow(ctx, compaction.Automatic)
}

// overflowed handles a provider that says that the context is too long: one compaction and one more attempt.
func (t *turn) overflowed(ctx context.Context, cause error) (StopReason, error) {
	if t.kernel.config.NoCompaction || !t.brake.Allows() {
		return ContextOverflow, cause
	}
	if stop, err := t.compactNow(ctx, compaction.Overflow); stop != "" {
		return stop, errors.Join(err, cause)
	}
	t.repeatRound()
	return t.oneRound(ctx)
}

// compactNow runs one compaction between two rounds.
func (t *turn) compactNow(ctx context.Context, reason compaction.Reason) (StopReason, error) {
	outcome, err := t.compact(ctx, reason, "", t.id)
	if err != nil {
		return stopped(ctx, Failed), err
	}
	t.brake.Ran(outcome)
	if !outcome.Fits {
		return ContextOverflow, fmt.Errorf("kernel: the request does not fit into the context window: %s", outcome.Largest)
	}
	return "", nil
}

// compactAfter compacts the thread when that is due after the turn. Nothing is sent to the model for it but the request
// for the summary, and what comes of it is no matter of the turn's any more.
func (t *turn) compactAfter(ctx context.Context) {
	t.brake.Round()
	if ctx.Err() != nil || !compaction.Due(t.settings(), t.load()) || !t.brake.Allows() {
		return
	}
	k, th := t.kernel, t.thread
	k.signal(thread.MaintenanceCompactingStarted, th, t.id, "")
	if _, err := t.compact(ctx, compaction.Automatic, "", ""); err != nil && ctx.Err() == nil {
		k.log.Error("the compaction after a turn failed", "thread", th.id, "turn", t.id, "error", err)
		t.send(Noted{Code: compaction.CompactionFailed, Severity: "warning", Message: "The thread was not compacted after the turn: its log cannot be written."})
	}
	k.signal(thread.MaintenanceCompleted, th, t.id, "")
}

// compact runs one compaction and tells about it. turn is blank between turns.
func (t *turn) compact(ctx context.Context, reason compaction.Reason, hint, turn string) (compaction.Outcome, error) {
	outcome, err := compaction.Run(ctx, t.compactionInputs(reason, hint, turn))
	if err != nil {
		return outcome, err
	}
	if u := outcome.Usage; u != nil {
		sum := &t.result.Usage
		*sum = added(*sum, *u)
	}
	if outcome.Result == compaction.Applied {
		t.thread.meter.Forget()
		t.composed = false
		t.send(Compacted{Reason: string(reason), Before: outcome.Before, After: outcome.After, Summarised: outcome.Summarised})
		t.kernel.signal(thread.ContextCompacted, t.thread, turn, "")
	}
	return outcome, nil
}

// added is the sum of two usages.
func added(a, b model.Usage) model.Usage {
	return model.Usage{
		Input: a.Input + b.Input, Output: a.Output + b.Output, Reasoning: a.Reasoning + b.Reasoning, CacheRead: a.CacheRead + b.CacheRead,
		CacheWrite: a.CacheWrite + b.CacheWrite, Total: a.Total + b.Total, Estimated: a.Estimated || b.Estimated,
	}
}
