package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// own takes an answer over: what no model may say is left out, and each call of the round has an id of its own.
func (t *turn) own(answer *model.Response) {
	good := true
	for _, it := range answer.Items {
		good = good && sayable(it)
	}
	if !good {
		answer.Items = slices.DeleteFunc(slices.Clone(answer.Items), func(it *model.Item) bool { return !sayable(it) })
	}
	for i, it := range answer.Items {
		if it.Kind != model.ToolCall {
			continue
		}
		for it.CallID == "" || repeated(answer.Items[:i], it.CallID) || t.taken(it.CallID) {
			it.CallID = model.NewCallID()
		}
	}
}

// sayable reports whether an item can be part of an answer.
func sayable(it *model.Item) bool {
	if it == nil {
		return false
	}
	switch it.Kind {
	case model.Message:
		return it.Role == model.Assistant
	case model.Reasoning, model.ToolCall:
		return true
	}
	return false
}

func repeated(before []*model.Item, id string) bool {
	for _, it := range before {
		if it.Kind == model.ToolCall && it.CallID == id {
			return true
		}
	}
	return false
}

// candidate is a complete answer on its way into the thread.
type candidate struct {
	items           []*model.Item
	calls           int
	text, reasoning string
}

func take(items []*model.Item) candidate {
	c := candidate{items: items}
	for _, it := range items {
		switch it.Kind {
		case model.Message:
			c.text += it.Text
		case model.Reasoning:
			for _, s := range it.Segments {
				c.reasoning += s.Text
			}
		case model.ToolCall:
			c.calls++
		}
	}
	return c
}

// commit applies the stop rules to a candidate, stores it and runs its calls.
func (t *turn) commit(ctx context.Context, answer *model.Response) (StopReason, error) {
	c := take(answer.Items)
	stop, cause := stopOf(answer)
	if stop == "" && c.calls == 0 {
		stop = Completed
	}
	if stop == "" && !t.takeCalls(c.calls) {
		stop = ToolCallLimitReached
	}
	if stop != "" && c.calls > 0 {
		c.items = slices.DeleteFunc(slices.Clone(c.items), func(it *model.Item) bool { return it.Kind == model.ToolCall })
		c.calls = 0
	}
	r := &t.plan.request
	err := t.append(&threadlog.Round{
		Turn: t.id, Round: t.round, Provider: r.Provider, Protocol: r.Protocol, Model: r.Model, Items: c.items,
		Finish: answer.Finish, Raw: answer.Raw, Usage: answer.Usage, Attempts: t.attempt.retries + 1,
	})
	if err != nil {
		return Failed, fmt.Errorf("kernel: store the answer: %w", err)
	}
	t.attempt.reset()
	t.result.Text = c.text
	if t.listening() {
		t.send(RoundCommitted{
			Turn: t.id, Round: t.round, Text: c.text, Reasoning: c.reasoning, Calls: c.calls, Finish: answer.Finish, Usage: answer.Usage,
		})
	}
	if stop == Failed {
		t.send(Noted{
			Code: CodeFinishUnknown, Severity: contrib.Warning, Message: "The model ended its answer in an unknown way: " + answer.Raw,
			Params: map[string]any{"raw": answer.Raw},
		})
	}
	if stop != "" {
		return stop, cause
	}
	return t.runCalls(ctx, c.items)
}

// stopOf returns the stop reason of a finish that is not normal.
func stopOf(answer *model.Response) (StopReason, error) {
	switch answer.Finish {
	case model.FinishStop, model.FinishToolCalls, "":
		return "", nil
	case model.FinishLength:
		return OutputTruncated, nil
	case model.FinishContentFilter:
		return ContentFiltered, nil
	case model.FinishContextOverflow:
		return ContextOverflow, errWindowFull
	}
	return Failed, fmt.Errorf("kernel: the model ended its answer with %q", answer.Raw)
}

var errWindowFull = errors.New("kernel: the provider says that the context window is full")
