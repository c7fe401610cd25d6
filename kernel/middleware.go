package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/trace"
)

// middlewares are the built-in ones of every kernel, beside retry and those of subagents. One that has nothing to do in a
// pipeline is not in it.
func middlewares(k *Kernel) contrib.Set {
	set := contrib.Set{}
	for _, m := range []struct {
		target string
		order  int
		wrap   func(context.Context, model.Client, model.PipelineInfo) (model.Client, error)
	}{
		{model.Tracing, 200, k.traced(model.Agent)},
		{model.SubagentTracing, 500, k.traced(model.Subagent)},
		{model.ToolInjection, 600, injectTools},
		{model.ImageSanitizing, 700, sanitizeImages},
	} {
		set = append(set, contrib.Item[model.Middleware](model.Middlewares, model.MiddlewareFunc(m.target, m.wrap),
			contrib.Named(m.target), contrib.Order(m.order), contrib.Label(m.target)))
	}
	return set
}

// ModelRound is the type of the trace event about one request to a model, once it is over: a request of a round, of a side
// question or of a compaction. Of the main agent all attempts are one event; of a subagent, whose tracing stands inside of
// retry, each attempt is one. Its data is a [RoundTrace].
const ModelRound = "model_round"

// RoundTrace is the data of a trace event of type [ModelRound].
type RoundTrace struct {
	Type         string        `json:"type"` // ModelRound
	Purpose      model.Purpose `json:"purpose"`
	Agent        string        `json:"agent,omitempty"`        // profile of the subagent; blank for the main agent
	ParentID     string        `json:"parentCallId,omitempty"` // of a subagent: the call that started it
	Thread       string        `json:"threadId"`               // the subagent's own
	Turn         string        `json:"turnId,omitempty"`       // of that thread
	Provider     string        `json:"provider"`
	Model        string        `json:"model"`
	Finish       model.Finish  `json:"finish,omitempty"` // blank for a failure
	Code         string        `json:"code,omitempty"`   // of a failure
	Usage        *model.Usage  `json:"usage,omitempty"`
	Attempts     int           `json:"attempts"`
	DurationMs   int64         `json:"durationMs"`
	FirstTokenMs int64         `json:"firstTokenMs,omitempty"` // until the first piece of the last attempt; 0: there was none
}

// codeRoundFailed stands for a failure without a code of the provider.
const codeRoundFailed = "failed"

// traced makes the middlewares tracing and subagent-tracing.
func (k *Kernel) traced(kind model.PipelineKind) func(context.Context, model.Client, model.PipelineInfo) (model.Client, error) {
	return func(_ context.Context, next model.Client, i model.PipelineInfo) (model.Client, error) {
		if i.Kind != kind {
			return next, nil
		}
		return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
			entries := trace.Sinks.Entries(k.registry.View(), "")
			if len(entries) == 0 {
				return next.Round(ctx, r, emit)
			}
			began, first, attempts := time.Now(), time.Duration(0), 1
			answer, err := next.Round(ctx, r, func(d model.Delta) error {
				switch d.Kind {
				case model.RetryDelta:
					attempts, first = attempts+1, 0
				case model.TextDelta, model.ReasoningDelta, model.CallStart:
					if first == 0 {
						first = time.Since(began)
					}
				}
				return emit(d)
			})
			t := RoundTrace{
				Type: ModelRound, Purpose: r.Purpose, Thread: r.Thread, Turn: r.Turn, Provider: i.Provider, Model: i.Model,
				Attempts: attempts, DurationMs: time.Since(began).Milliseconds(), FirstTokenMs: first.Milliseconds(),
			}
			parent, turn := r.Thread, r.Turn
			if th, ok := ctx.Value(turnKey{}).(*Thread); ok && th.child != nil {
				t.Agent, t.ParentID, parent, turn = th.agent(), th.startedBy(), th.child.parent.thread.id, th.child.turn
			}
			if err == nil && answer != nil {
				t.Finish, t.Usage = answer.Finish, answer.Usage
			} else {
				t.Code = codeRoundFailed
				if provider, ok := errors.AsType[*model.Error](err); ok {
					t.Code = provider.Code
				}
			}
			if data, failure := json.Marshal(t); failure == nil {
				k.traces.Publish(entries, trace.Event{Type: ModelRound, Thread: parent, Turn: turn, Time: time.Now(), Data: data}, nil)
			}
			return answer, err
		}), nil
	}
}

// sanitizeImages is the built-in middleware image-sanitizing: what is no image that the model can be sent goes as the text
// that stands in its place.
func sanitizeImages(_ context.Context, next model.Client, i model.PipelineInfo) (model.Client, error) {
	if i.Kind != model.Agent {
		return next, nil
	}
	return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
		items := threadlog.Sendable(r.Items, r.AcceptsImages)
		if len(items) > 0 && &items[0] != &r.Items[0] {
			own := *r
			own.Items, r = items, &own
		}
		return next.Round(ctx, r, emit)
	}), nil
}
