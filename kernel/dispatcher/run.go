package dispatcher

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// Run starts a prepared call and takes it through stages 12 to 16. It is called at most once; for a refused call it
// returns the refusal. Prepared calls may run at the same time. The result hooks are not run: see [Prepared.Finish].
func (p *Prepared) Run(ctx context.Context) Outcome { return p.RunServing(ctx, nil, nil) }

// RunServing is [Prepared.Run] for a caller who has something else to do while the tool runs: each token of wake makes it
// call serve, on the caller's goroutine. A panic of serve ends the call, and goes on once its end is recorded.
func (p *Prepared) RunServing(ctx context.Context, wake <-chan struct{}, serve func()) Outcome {
	if !p.refused && ctx.Err() != nil {
		p.refuse(cancelled())
	}
	if p.refused {
		return p.outcome(p.refusal)
	}
	if f := p.turn.BeforeStart; f != nil {
		if err := f(p.call); err != nil {
			p.d.logger.Error("a call was not run because it could not be recorded", "call", p.request.ID, "error", err)
			p.refuse(unserved(tool.ReasonNotAvailable))
			return p.outcome(p.refusal)
		}
	}
	thread := contrib.ThreadID(p.turn.Thread)
	// From here on the turn's cancellation ends the tool and nothing else: what was started is recorded.
	lasting := context.WithoutCancel(ctx)
	if entries := dispatch.Recorders.Entries(p.d.registry.View(), thread); len(entries) > 0 {
		_ = contrib.FanOut(lasting, entries, func(ctx context.Context, r dispatch.Recorder) error {
			return r.Started(ctx, p.stage)
		}, p.turn.report())
	}
	start := time.Now()
	result := p.invoke(ctx, wake, serve)
	took := time.Since(start)
	result = p.normalize(lasting, result)
	if code := sealed(&result, p.request.Audience); code != "" {
		result = invalidResult(code)
	}
	result.Executed, result.Coercions = true, p.call.Coercions
	if entries := dispatch.Recorders.Entries(p.d.registry.View(), thread); len(entries) > 0 {
		_ = contrib.FanOut(lasting, entries, func(ctx context.Context, r dispatch.Recorder) error {
			return r.Ended(ctx, p.stage, result, took)
		}, p.turn.report())
	}
	if p.raise != nil {
		panic(p.raise)
	}
	return Outcome{
		Call: p.call, Result: result, Status: p.status(&result), Duration: took, Executed: true, Text: ResultText(result),
	}
}

// normalize folds the result through the normalizers. A failed step makes the result unusable.
func (p *Prepared) normalize(ctx context.Context, r tool.Result) tool.Result {
	entries := dispatch.Normalizers.Entries(p.d.registry.View(), contrib.ThreadID(p.turn.Thread))
	if len(entries) == 0 {
		return r
	}
	fromTool := r.Error != nil && r.Error.FromTool
	out, err := contrib.Fold(ctx, entries, r, func(ctx context.Context, n dispatch.Normalizer, r tool.Result) (tool.Result, error) {
		next, err := n.Normalize(ctx, p.stage, r)
		if err != nil || next == nil {
			return r, err
		}
		return *next, nil
	}, nil, contrib.Forwards)
	if err != nil {
		p.d.logger.Error("a normalizer failed, so the result can't be used", "call", p.request.ID, "error", err)
		return invalidResult("normalizerFailed")
	}
	if out.Error != nil && out.Error != r.Error && out.Error.FromTool != fromTool {
		e := *out.Error
		e.FromTool = fromTool
		out.Error = &e
	}
	return out
}

func invalidResult(reason string) tool.Result {
	return failed(tool.CodeResultInvalid, "The tool ran, and its result can't be used.", map[string]any{"reasonCode": reason})
}
