package kernel_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// passing notes that it was gone through.
func passing(name string, order *[]string, opts ...contrib.Option) fx.Option {
	return contrib.Supply(model.Middlewares, passingValue(name, order), append(opts, contrib.Label(name))...)
}

func passingValue(name string, order *[]string) model.Middleware {
	return model.MiddlewareFunc(name, func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
		return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
			*order = append(*order, name)
			return next.Round(ctx, r, emit)
		}), nil
	})
}

// POINT-8, the main agent.
func TestMiddlewaresByOrder(t *testing.T) { synctest.Test(t, middlewaresByOrder) }

func middlewaresByOrder(t *testing.T) {
	var order []string
	short := false
	k := kerneltest.Start(t, kerneltest.Script(kerneltest.Step{Err: &model.Error{Retryable: true}}, say("1"), say("2"), say("3")),
		kerneltest.Plugins(plugin("acme.p",
			passing("inner", &order, contrib.Order(650)),
			passing("outer", &order, contrib.Order(150)),
			passing("middle", &order, contrib.Order(250)),
			contrib.Supply(model.Middlewares, model.MiddlewareFunc("nil", func(context.Context, model.Client, model.PipelineInfo) (model.Client, error) {
				return nil, nil
			}), contrib.Label("nil")),
			contrib.Supply(model.Middlewares, model.MiddlewareFunc("short", func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
				return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
					if !short {
						return next.Round(ctx, r, emit)
					}
					return &model.Response{Items: []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: "short"}}, Finish: model.FinishStop}, nil
				}), nil
			}), contrib.Order(100)))))
	th := k.Thread()
	run := func(th *kernel.Thread) kerneltest.Turn {
		order = nil
		return k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	}
	// Retry stands at 300: what lies inside of it is gone through again.
	turn := run(th)
	assert.Equal(t, []string{"outer", "middle", "inner", "inner"}, order)
	assert.Equal(t, []string{"acme.p/nil error"}, failures(turn), "left out, and noted")

	handle, err := model.Middlewares.Add(k.Registry().Builtin(), passingValue("scoped", &order), contrib.Order(10), contrib.InThread(contrib.ThreadID(th.ID())))
	require.NoError(t, err)
	replaced, err := model.Middlewares.Add(k.Registry().Builtin(), passingValue("mine", &order), contrib.Order(200), contrib.ReplaceTarget(model.Tracing))
	require.NoError(t, err)
	run(th)
	assert.Equal(t, []string{"scoped", "outer", "mine", "middle", "inner"}, order)
	run(k.NewThread(kernel.Options{}))
	assert.Equal(t, []string{"outer", "mine", "middle", "inner"}, order)
	handle.Revoke()
	replaced.Revoke()
	run(th)
	assert.Equal(t, []string{"outer", "middle", "inner"}, order)

	short = true
	assert.Equal(t, "short", run(th).Result.Text)
	assert.Empty(t, order)
}

// A revoked middleware passes through in the pipeline that still holds it.
func TestRevokedMiddlewarePassesThrough(t *testing.T) {
	var order []string
	var k *kerneltest.Kernel
	k = kerneltest.Start(t, kerneltest.Script(call("off", `{}`), say("done")),
		kerneltest.Tools(reading("off", func(context.Context, tool.Invocation) (tool.Result, error) {
			disable(t, k, "acme.p")
			return tool.Text("ok"), nil
		})),
		kerneltest.Plugins(plugin("acme.p", passing("p", &order))))
	turn := k.Run("go")
	assert.Equal(t, []string{"p"}, order)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Equal(t, "done", turn.Result.Text)
}

// FIELD-P14: a consumer of the stream can tell calls apart.
func TestConsumerCanTellCallsApart(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(kerneltest.Step{Calls: []kerneltest.Call{
		{ID: "call_a", Name: "read", Arguments: `{"path":"a"}`}, {ID: "call_b", Name: "read", Arguments: `{"path":"b"}`},
	}}), kerneltest.Tools(abc().tool()))
	turn := k.Run("go")
	for id, want := range map[string]string{"call_a": `{"path":"a"}`, "call_b": `{"path":"b"}`} {
		starts, ends := 0, 0
		var pieces strings.Builder
		for _, d := range kerneltest.All[kernel.CallDelta](turn) {
			if d.CallID != id {
				continue
			}
			if d.Start {
				starts++
				assert.Equal(t, "read", d.Name)
			}
			if d.End {
				ends++
			}
			pieces.WriteString(d.Arguments)
		}
		assert.Equal(t, 1, starts)
		assert.Equal(t, 1, ends)
		assert.Equal(t, want, pieces.String())
	}
}

// A note of a client reaches the operator and is no part of the answer.
func TestNotesOfAClient(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(say("hi")), contrib.Supply(model.Middlewares,
		model.MiddlewareFunc("notes", func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
			return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
				if err := emit(model.Delta{Kind: model.NoteDelta, Name: model.NoteGearIgnored, Text: "no such gear"}); err != nil {
					return nil, err
				}
				return next.Round(ctx, r, emit)
			}), nil
		})))
	turn := k.Run("go")
	require.Len(t, turn.Notes(), 1)
	assert.Equal(t, model.NoteGearIgnored, turn.Notes()[0].Code)
	assert.Equal(t, "hi", turn.Result.Text)
}
