package kernel

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/modelhook"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
)

// rounds composes the prompt and runs rounds until one of them ends the turn.
func (t *turn) rounds(ctx context.Context) (StopReason, error) {
	if ctx.Err() != nil {
		return Interrupted, ctx.Err()
	}
	if err := t.compose(ctx); err != nil {
		return Failed, err
	}
	for {
		if stop, err := t.makeRoom(ctx); stop != "" {
			return stop, err
		}
		if t.limits.ModelCalls >= 0 && t.result.ModelCalls >= t.limits.ModelCalls {
			return ModelCallLimitReached, nil
		}
		stop, err := t.oneRound(ctx)
		if stop != "" {
			return stop, err
		}
		if ctx.Err() != nil {
			return Interrupted, ctx.Err()
		}
	}
}

// compose makes the system text of the turn and stores it when it differs from the last one of its mode.
func (t *turn) compose(ctx context.Context) error {
	th, r := t.thread, &t.plan.request
	v := t.kernel.registry.View()
	text, err := composer.Compose(ctx, v, composer.Inputs{
		Context: prompt.Context{Thread: th.id, Workspace: th.workspace, Mode: t.mode, Client: t.kernel.config.Client, Tools: t.plan.names},
		Binding: prompt.Binding{
			Mode: t.mode, Workspace: th.workspace, Session: th.id, Approval: th.Approval(), Provider: r.Provider, Model: r.Model,
		},
		Hook:   hook.PromptInfo{Scope: th.scope(t.id), Mode: t.mode},
		Host:   t.placeholder,
		Report: t.report,
	})
	if err != nil {
		return err
	}
	if text != t.plan.prompt {
		t.plan.prompt, t.plan.promptTokens = text, estimate.Text(text)
	}
	t.system = t.plan.prompt
	if last, ok := th.log.System(t.mode); ok && last == text {
		return nil
	}
	if err := th.log.Append(&threadlog.System{Mode: t.mode, Text: text}); err != nil {
		return fmt.Errorf("kernel: store the system text: %w", err)
	}
	return nil
}

// placeholder resolves the names that the host owns.
func (t *turn) placeholder(name string) string {
	r := &t.plan.request
	switch name {
	case "workspace":
		return strings.ReplaceAll(t.thread.workspace, `\`, "/")
	case "provider":
		return r.Provider
	case "model":
		return r.Model
	case "model_line":
		return r.Provider + "/" + r.Model
	case "mode":
		return t.mode
	case "session_id":
		return t.thread.id
	case "approval":
		return t.thread.Approval()
	case "product_name":
		return "Crystal"
	}
	return hostPlaceholder(name, t.thread.workspace)
}

// oneRound sends one request and handles its answer. A blank stop reason means that another round follows.
func (t *turn) oneRound(ctx context.Context) (StopReason, error) {
	t.round++
	t.result.ModelCalls++
	t.attempt = attempt{text: t.attempt.text[:0]}
	if t.listening() {
		t.send(RoundStarted{Turn: t.id, Round: t.round})
	}
	request, hooked, err := t.request(ctx)
	if err != nil {
		return Failed, err
	}
	answer, err := t.plan.pipeline.Round(ctx, request, t.delta)
	if err != nil || answer == nil {
		return t.roundFailed(ctx, err)
	}
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
	items, err := t.withRuntimeLines(ctx, th.log.Items())
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
	items, notes := th.log.Images(prepared.Items, r.ImageInput)
	for _, n := range notes {
		t.send(Noted{Code: n.Code, Severity: contrib.Warning, Message: n.Message})
	}
	return &model.Request{
		Purpose: purpose, Thread: th.id, Turn: t.id, Model: r.Model, System: prepared.System, Items: items, Tools: t.plan.tools.Models(),
		Gear: t.gear, Temperature: r.Temperature, TopP: r.TopP, MaxTokens: r.MaxTokens, ReplayReasoning: r.ReplayReasoning,
		AcceptsImages: r.ImageInput,
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
		lines = append(lines, more...)
		return err
	}, t.report)
	if err != nil || len(lines) == 0 {
		return items, err
	}
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind != model.Message || items[i].Role != model.User {
			continue
		}
		own := *items[i]
		own.Text += "\n\n" + strings.Join(lines, "\n")
		changed := append([]*model.Item(nil), items...)
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
	if err == nil {
		err = errors.New("kernel: the model client returned neither an answer nor an error")
	}
	var provider *model.Error
	if errors.As(err, &provider) && provider.Overflow {
		return t.overflowed(ctx, err)
	}
	if text := t.attempt.partial(); text != "" {
		if stored := t.thread.log.Append(&threadlog.Partial{Turn: t.id, Text: text}); stored != nil {
			err = errors.Join(err, stored)
		}
	}
	if len(t.raw) > 0 {
		t.send(rawChanged(t.raw))
		t.raw = nil
	}
	return Failed, err
}

// rawChanged is the hint that a failed round had been changed by raw hooks.
func rawChanged(labels []string) Noted {
	who, verb := "The raw hook ", " changed the request; the failure may be related."
	if len(labels) > 1 {
		who = "The raw hooks "
	}
	return Noted{
		Code: "RawHookChangedRequest", Severity: contrib.Info, Point: "rawhook.rebuild_model", Message: who + strings.Join(labels, ", ") + verb,
		Params: map[string]any{"labels": labels},
	}
}

// countUsage adds up what the provider reported.
func (t *turn) countUsage(answer *model.Response) {
	t.thread.meter.Answer(t.plan.modelName, answer.Usage, answer.Items)
	u := answer.Usage
	if u == nil {
		return
	}
	sum := &t.result.Usage
	sum.Input += u.Input
	sum.Output += u.Output
	sum.Reasoning += u.Reasoning
	sum.CacheRead += u.CacheRead
	sum.CacheWrite += u.CacheWrite
	sum.Total += u.Total
	sum.Estimated = sum.Estimated || u.Estimated
}

// commit applies the stop rules to a candidate, stores it and runs its calls.
func (t *turn) commit(ctx context.Context, answer *model.Response) (StopReason, error) {
	items, calls, text, reasoning := t.candidate(answer)
	stop, failure := stopOf(answer)
	if stop == "" && len(calls) == 0 {
		stop = Completed
	}
	if stop == "" && !t.budgetFits(len(calls)) {
		stop = ToolCallLimitReached
	}
	if stop != "" && len(calls) > 0 {
		items, calls = withoutCalls(items), nil
	}
	r := &t.plan.request
	err := t.thread.log.Append(&threadlog.Round{
		Turn: t.id, Round: t.round, Provider: r.Provider, Protocol: r.Protocol, Model: r.Model, Items: items,
		Finish: answer.Finish, Raw: answer.Raw, Usage: answer.Usage, Attempts: t.attempt.retries + 1,
	})
	if err != nil {
		return Failed, fmt.Errorf("kernel: store the answer: %w", err)
	}
	t.attempt.reset()
	t.result.Text = text
	if t.listening() {
		t.send(RoundCommitted{
			Turn: t.id, Round: t.round, Text: text, Reasoning: reasoning, Calls: len(calls), Finish: answer.Finish, Usage: answer.Usage,
		})
	}
	if failure != nil {
		t.send(*failure)
	}
	if stop != "" {
		if stop == Failed {
			return stop, fmt.Errorf("kernel: the model ended its answer with %q", answer.Raw)
		}
		return stop, nil
	}
	return t.runCalls(ctx, calls)
}

// candidate takes a candidate apart and gives each call an id of its own.
func (t *turn) candidate(answer *model.Response) (items, calls []*model.Item, text, reasoning string) {
	items = answer.Items
	for _, it := range items {
		switch it.Kind {
		case model.Message:
			text += it.Text
		case model.Reasoning:
			for _, s := range it.Segments {
				reasoning += s.Text
			}
		case model.ToolCall:
			if it.CallID == "" || repeated(calls, it.CallID) {
				it.CallID = newCallID()
			}
			calls = append(calls, it)
		}
	}
	return items, calls, text, reasoning
}

// newCallID makes an id for a call that came without one, or with one that this round has already.
func newCallID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return "call_" + hex.EncodeToString(b[:])
}

func repeated(calls []*model.Item, id string) bool {
	for _, c := range calls {
		if c.CallID == id {
			return true
		}
	}
	return false
}

func withoutCalls(items []*model.Item) []*model.Item {
	kept := make([]*model.Item, 0, len(items))
	for _, it := range items {
		if it.Kind != model.ToolCall {
			kept = append(kept, it)
		}
	}
	return kept
}

// stopOf returns the stop reason of a finish that is not normal, with the note that it makes.
func stopOf(answer *model.Response) (StopReason, *Noted) {
	switch answer.Finish {
	case model.FinishStop, model.FinishToolCalls, "":
		return "", nil
	case model.FinishLength:
		return OutputTruncated, nil
	case model.FinishContentFilter:
		return ContentFiltered, nil
	case model.FinishContextOverflow:
		return ContextOverflow, nil
	}
	return Failed, &Noted{
		Code: "provider_finish", Severity: contrib.Warning, Message: "The model ended its answer in an unknown way: " + answer.Raw,
		Params: map[string]any{"raw": answer.Raw},
	}
}

func (t *turn) budgetFits(n int) bool {
	switch limit := t.limits.ToolCalls; {
	case limit == NoToolCalls:
		return n == 0
	case limit < 0:
		return true
	default:
		return t.result.ToolCalls+n <= limit
	}
}
