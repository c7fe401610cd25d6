package kernel

import (
	"context"
	"errors"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/modelhook"
	points "github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/rawhook"
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
		System: t.plan.promptTokens, Tools: t.plan.tokens, Items: th.counter.Items(th.log.Items(), t.sends()), Reported: reported,
	}
}

// makeRoom compacts the thread when that is due before the next round. A stop reason ends the turn.
func (t *turn) makeRoom(ctx context.Context) (StopReason, error) {
	t.brake.Round()
	if !compaction.Due(t.settings(), t.load()) || !t.brake.Allows() {
		return "", nil
	}
	return t.compact(ctx, compaction.Automatic)
}

// overflowed handles a provider that says that the context is too long: one compaction and one more attempt.
func (t *turn) overflowed(ctx context.Context, cause error) (StopReason, error) {
	if t.kernel.config.NoCompaction || !t.brake.Allows() {
		return ContextOverflow, cause
	}
	if stop, err := t.compact(ctx, compaction.Overflow); stop != "" {
		return stop, errors.Join(err, cause)
	}
	stop, err := t.oneRound(ctx)
	var provider *model.Error
	if errors.As(err, &provider) && provider.Overflow {
		return ContextOverflow, err
	}
	return stop, err
}

// compact runs one compaction of the running turn.
func (t *turn) compact(ctx context.Context, reason compaction.Reason) (StopReason, error) {
	outcome, err := compaction.Run(ctx, t.compactionInputs(reason))
	switch {
	case ctx.Err() != nil:
		return Interrupted, ctx.Err()
	case err != nil:
		return Failed, err
	}
	t.brake.Ran(outcome)
	t.compacted(reason, outcome)
	if !outcome.Fits {
		return ContextOverflow, errors.New("kernel: the request does not fit into the context window: " + outcome.Largest)
	}
	return "", nil
}

func (t *turn) compacted(reason compaction.Reason, o compaction.Outcome) {
	if o.Result != compaction.Applied {
		return
	}
	t.thread.meter.Forget()
	t.send(Compacted{Reason: string(reason), Before: o.Before, After: o.After, Summarised: o.Summarised})
}

func (t *turn) compactionInputs(reason compaction.Reason) compaction.Inputs {
	th, r := t.thread, &t.plan.request
	id := contrib.ThreadID(th.id)
	registry := t.kernel.registry
	scope := th.scope(t.id)
	return compaction.Inputs{
		Reason: reason, Thread: th.id, Turn: t.id, Workspace: th.workspace, Provider: r.Provider,
		Log: th.log, Settings: t.settings(), Load: t.load(), Sends: t.sends(), Client: t.plan.pipeline,
		Request:     model.Request{Model: r.Model, Gear: t.gear, Temperature: r.Temperature, TopP: r.TopP},
		Summarizers: func() []contrib.Entry[points.Summarizer] { return points.Summarizers.Entries(registry.View(), id) },
		Policies:    func() []contrib.Entry[points.ToolPolicy] { return points.ToolPolicies.Entries(registry.View(), id) },
		Hooks: compaction.Hooks{
			Model: func(ctx context.Context, items []*model.Item) ([]*model.Item, error) {
				p, err := modelhook.Prepare(ctx, registry.View(), modelhook.Request{
					Scope: scope, Purpose: model.Compaction, Items: items, Report: t.report,
				})
				return p.Items, err
			},
			Response: func(ctx context.Context, a *model.Response) error {
				return modelhook.Observe(ctx, registry.View(), modelhook.Request{Scope: scope, Purpose: model.Compaction, Report: t.report}, a)
			},
			Text: func(ctx context.Context, p hook.Phase, text string) (string, error) {
				return t.compactionText(ctx, scope, p, text)
			},
		},
		Note: func(code, message string) {
			t.side.post(Noted{Code: code, Severity: contrib.Warning, Message: message})
		},
		Report: t.report,
	}
}

// compactionText runs the text hooks of a compaction: those that append, then those that replace.
func (t *turn) compactionText(ctx context.Context, s hook.Scope, p hook.Phase, text string) (string, error) {
	v, id := t.kernel.registry.View(), contrib.ThreadID(t.thread.id)
	text, err := contrib.Fold(ctx, hook.Compactions.Entries(v, id), text, func(ctx context.Context, h hook.Compaction, text string) (string, error) {
		add, err := h.Compaction(ctx, s, p, text)
		return composer.Append(text, add), err
	}, t.report, contrib.Forwards)
	if err != nil {
		return "", err
	}
	return contrib.Fold(ctx, rawhook.RewriteCompactions.Entries(v, id), text, func(ctx context.Context, h rawhook.RewriteCompaction, text string) (string, error) {
		out, err := h.RewriteCompaction(ctx, s, p, text)
		if err != nil || out == nil {
			return text, err
		}
		return *out, nil
	}, t.report, contrib.Forwards)
}
