package kernel

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/modelhook"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
)

// rounds pins a view, makes the plan and the prompt of the turn, and runs rounds until one of them ends it.
func (t *turn) rounds(ctx context.Context) (StopReason, error) {
	if ctx.Err() != nil {
		return Interrupted, ctx.Err()
	}
	if err := t.prepare(ctx); err != nil {
		return stopped(ctx, Failed), err
	}
	for {
		if stop, err := t.makeRoom(ctx); stop != "" {
			return stop, err
		}
		if !t.takeRound() {
			return ModelCallLimitReached, nil
		}
		if stop, err := t.oneRound(ctx); stop != "" {
			return stop, err
		}
		if ctx.Err() != nil {
			return Interrupted, ctx.Err()
		}
	}
}

// stopped is the stop reason of a failure, unless it comes of the end of ctx.
func stopped(ctx context.Context, stop StopReason) StopReason {
	if ctx.Err() != nil {
		return Interrupted
	}
	return stop
}

// prepare pins the view that the turn keeps, and brings the plan up to date.
func (t *turn) prepare(ctx context.Context) error {
	t.view = t.kernel.registry.View()
	if c := t.thread.child; c != nil {
		t.view = c.view
	}
	if err := t.plan.preparePipeline(ctx, t); err != nil {
		return err
	}
	if err := t.plan.prepareTools(ctx, t); err != nil {
		return err
	}
	if err := t.plan.prepareContexts(ctx, t); err != nil {
		return err
	}
	t.thread.recall(t.plan.tools)
	t.calls.Begin(t.id, t.mode, t.plan.tools, t.plan.request.ImageInput, t.limits.ToolOutput)
	t.begin()
	_, err := t.compose(ctx, t.thread.log.Items())
	return err
}

// placeholder resolves the names that the host owns.
func (t *turn) placeholder(name string) string {
	b := t.binding(t.mode)
	return hostValue(name, &b)
}

// oneRound sends one request and handles its answer. A blank stop reason means that another round follows.
func (t *turn) oneRound(ctx context.Context) (StopReason, error) {
	t.round++
	t.attempt.reset()
	t.attempt.retries = 0
	if t.listening() {
		t.send(RoundStarted{Turn: t.id, Round: t.round})
	}
	request, hooked, err := t.request(ctx)
	if err != nil {
		return stopped(ctx, Failed), err
	}
	answer, err := t.plan.pipeline.Round(ctx, request, t.delta)
	if err == nil && answer == nil {
		err = errNoAnswer
	}
	if err != nil {
		return t.roundFailed(ctx, err)
	}
	t.own(answer)
	if err := modelhook.Observe(ctx, t.kernel.registry.View(), hooked, answer); err != nil {
		return Interrupted, err
	}
	t.countUsage(answer)
	return t.commit(ctx, answer)
}

// request builds the request of this round and takes it through the model hooks.
func (t *turn) request(ctx context.Context) (*model.Request, modelhook.Request, error) {
	th, r := t.thread, &t.plan.request
	purpose := model.Work
	if t.mode == ModePlan {
		purpose = model.Plan
	}
	t.raw = nil
	items, err := t.withRuntimeLines(ctx, th.log.Items())
	if err == nil && (!t.composed || t.again()) {
		items, err = t.compose(ctx, items)
	}
	if err != nil {
		return nil, modelhook.Request{}, err
	}
	hooked := modelhook.Request{
		Scope: th.scope(t.id), Purpose: purpose, AcceptsImages: r.ImageInput, System: t.system, Items: items, Report: t.report,
	}
	prepared, err := modelhook.Prepare(ctx, t.kernel.registry.View(), hooked)
	if err != nil {
		return nil, hooked, err
	}
	t.raw = prepared.Raw
	items = prepared.Items
	if r.ImageInput {
		var notes []threadlog.Note
		items, notes = th.log.Load(items)
		for _, n := range notes {
			t.send(Noted{Code: n.Code, Severity: contrib.Warning, Message: n.Message})
		}
	}
	if th.child != nil { // for a main agent the middleware image-sanitizing does it
		items = threadlog.Sendable(items, r.ImageInput)
	}
	return &model.Request{
		Purpose: purpose, Thread: th.id, Turn: t.id, Agent: th.agent(), Model: r.Model, System: prepared.System, Items: items,
		Tools: t.plan.tools.Models(), Gear: t.gear, Temperature: r.Temperature, TopP: r.TopP, MaxTokens: r.MaxTokens,
		ReplayReasoning: r.ReplayReasoning, AcceptsImages: r.ImageInput,
	}, hooked, nil
}

// withRuntimeLines appends the lines of prompt.chat_context to the user turn of this request. The thread is not touched.
func (t *turn) withRuntimeLines(ctx context.Context, items []*model.Item) ([]*model.Item, error) {
	th, r := t.thread, &t.plan.request
	entries := prompt.ChatContexts.Entries(t.kernel.registry.View(), contrib.ThreadID(th.id))
	if len(entries) == 0 {
		return items, nil
	}
	chat := prompt.Chat{Thread: th.id, Turn: t.id, Workspace: th.workspace, Mode: t.mode, Provider: r.Provider, Model: r.Model}
	var lines []string
	err := contrib.FanOut(ctx, entries, func(ctx context.Context, c prompt.ChatContext) error {
		more, err := c.RuntimeLines(ctx, chat)
		if err == nil {
			lines = append(lines, more...)
		}
		return err
	}, t.report)
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	if err != nil || len(lines) == 0 {
		return items, err
	}
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind != model.Message || items[i].Role != model.User {
			continue
		}
		own := *items[i]
		own.Text += "\n\n" + strings.Join(lines, "\n")
		changed := slices.Clone(items)
		changed[i] = &own
		return changed, nil
	}
	return items, nil
}

// roundFailed decides what a round that brought no candidate means.
func (t *turn) roundFailed(ctx context.Context, err error) (StopReason, error) {
	if ctx.Err() != nil {
		return Interrupted, ctx.Err()
	}
	stop := Failed
	if provider, ok := errors.AsType[*model.Error](err); ok && provider.Overflow {
		if stop, err = t.overflowed(ctx, err); stop != ContextOverflow && stop != Failed {
			return stop, err
		}
	}
	if len(t.raw) > 0 {
		t.send(rawChanged(t.raw))
		t.raw = nil
	}
	return stop, err
}

// rawChanged is the hint that a failed round had been changed by raw hooks.
func rawChanged(labels []string) Noted {
	who := "The raw hook "
	if len(labels) > 1 {
		who = "The raw hooks "
	}
	return Noted{
		Code: CodeRawHookChangedRequest, Severity: contrib.Info, Point: "rawhook.rebuild_model",
		Message: who + strings.Join(labels, ", ") + " changed the request; the failure may be related.",
		Params:  map[string]any{"labels": labels},
	}
}

// countUsage adds up what the provider reported.
func (t *turn) countUsage(answer *model.Response) {
	t.thread.meter.Answer(t.plan.modelName, answer.Usage, answer.Items)
	if u := answer.Usage; u != nil {
		t.result.Usage = added(t.result.Usage, *u)
	}
}
