package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/kernel/modelhook"
	"github.com/crystalkernel/crystal/points/model"
)

// Ask asks the model a side question: a request with the thread as it stands and without tools. Question and answer are not
// stored, and calls in the answer are dropped. It runs beside a turn or between turns, and calls may overlap. stream
// receives the answer's text as it comes, on the caller's goroutine; nil is nobody.
//
// The error is ErrBlank, ErrThreadClosed, that of an unknown model, a failure of the provider, or that of ctx.
func (t *Thread) Ask(ctx context.Context, question string, stream func(text string)) (string, error) {
	if strings.TrimSpace(question) == "" {
		return "", ErrBlank
	}
	t.mu.Lock()
	closed, ref, mode := t.closed, t.model, t.mode
	t.mu.Unlock()
	if closed {
		return "", ErrThreadClosed
	}
	k := t.kernel
	r, err := k.models.Resolve(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("kernel: choose a model: %w", err)
	}
	base, err := k.client(ctx, r)
	if err != nil {
		return "", err
	}
	v := k.registry.View()
	client, err := pipeline(ctx, v, base, &r, t, k.report)
	if err != nil {
		return "", err
	}
	items := append(t.log.Items(), &model.Item{Kind: model.Message, Role: model.User, Text: question})
	system, _ := t.log.System(mode)
	hooked := modelhook.Request{Scope: t.scope(""), Purpose: model.Side, System: system, Items: items, Report: k.report}
	prepared, err := modelhook.Prepare(ctx, v, hooked)
	if err != nil {
		return "", err
	}
	// This request takes no images: the middleware image-sanitizing makes text of their markers.
	answer, err := client.Round(ctx, &model.Request{
		Purpose: model.Side, Thread: t.id, Model: r.Model, System: prepared.System, Items: prepared.Items, Temperature: r.Temperature,
		TopP: r.TopP, MaxTokens: r.MaxTokens, ReplayReasoning: r.ReplayReasoning,
	}, func(d model.Delta) error {
		if stream != nil && d.Kind == model.TextDelta {
			stream(d.Text)
		}
		return ctx.Err()
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("kernel: ask a side question: %w", err)
	case answer == nil:
		return "", errNoAnswer
	}
	if err := modelhook.Observe(ctx, v, hooked, answer); err != nil {
		return "", err
	}
	text := take(answer.Items).text
	if stop, err := stopOf(answer); stop != "" && stop != OutputTruncated {
		return text, errors.Join(fmt.Errorf("kernel: the answer to a side question ended as %s", stop), err)
	}
	return text, nil
}
