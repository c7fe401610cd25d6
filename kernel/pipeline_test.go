package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/trace"
)

// record is a sink that keeps the requests of a trace.
func record(rounds *[]kernel.RoundTrace) fx.Option {
	return contrib.Supply(trace.Sinks, trace.SinkFunc("rounds", func(_ context.Context, e trace.Event) error {
		if e.Type != kernel.ModelRound {
			return nil
		}
		var r kernel.RoundTrace
		if err := json.Unmarshal(e.Data, &r); err != nil {
			return err
		}
		*rounds = append(*rounds, r)
		return nil
	}))
}

// wrapping is a middleware of a plugin.
func wrapping(round func(ctx context.Context, next model.Client, r *model.Request, emit func(model.Delta) error) (*model.Response, error), opts ...contrib.Option) fx.Option {
	return contrib.Supply(model.Middlewares, model.MiddlewareFunc("wrapping", func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
		return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
			return round(ctx, next, r, emit)
		}), nil
	}), opts...)
}

// POINT-8: what each built-in does is seen by who stands inside of it, and by nobody outside of it.
func TestPluginsStandBetweenTheBuiltinMiddlewares(t *testing.T) {
	for _, c := range []struct {
		order          int
		traced         bool // its own answer is traced
		tools          string
		image, retries int
	}{
		{150, false, "tool_search", 1, 1},
		{250, true, "tool_search", 1, 1},
		{350, true, "tool_search", 1, 2},
		{650, true, "tool_search git__merge_00 git__merge_02", 1, 2},
		{750, true, "tool_search git__merge_00 git__merge_02", 0, 2},
	} {
		t.Run(fmt.Sprint(c.order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var rounds []kernel.RoundTrace
				var seen []*model.Request
				short := false
				k := kerneltest.Start(t, record(&rounds),
					kerneltest.ScriptOf(model.ClientRequest{ContextWindow: 1 << 20}, find("merge"), kerneltest.Step{Err: &model.Error{Retryable: true}}, say("done")),
					kerneltest.Plugins(plugin("acme.many", many()), plugin("acme.p",
						wrapping(func(ctx context.Context, next model.Client, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
							if short {
								return &model.Response{Items: []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: "short"}}, Finish: model.FinishStop}, nil
							}
							seen = append(seen, r)
							return next.Round(ctx, r, emit)
						}, contrib.Order(c.order)))))
				k.RunInput(t.Context(), kernel.Input{Text: "look", Images: []kernel.Image{{MediaType: "image/png", Data: png}}})
				require.Len(t, seen, 1+c.retries)
				assert.Equal(t, c.tools, strings.Join(toolNames(seen[1]), " "))
				assert.Len(t, seen[1].Items[0].Images, c.image)
				short = true
				assert.Equal(t, "short", k.Run("again").Result.Text)
				require.NoError(t, k.Stop(t.Context()))
				if c.traced {
					require.Len(t, rounds, 3)
					assert.Equal(t, 2, rounds[1].Attempts)
				} else {
					assert.Len(t, rounds, 2)
				}
			})
		})
	}
}

// Replacing image-sanitizing changes what a model that takes no images is sent, and it is given back.
func TestAPluginMayTakeImageSanitizingOver(t *testing.T) {
	seen := func(r *model.Request) string { return fmt.Sprint(len(r.Items[0].Images), " ", r.Items[0].Text) }
	k := kerneltest.Start(t, kerneltest.ScriptOf(model.ClientRequest{ContextWindow: 1 << 20}),
		kerneltest.Plugins(plugin("acme.p", contrib.Supply(model.Middlewares, model.MiddlewareFunc("marks", func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
			return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
				own := *r
				it := *r.Items[0]
				it.Text, it.Images = strings.ReplaceAll(threadlog.PlainMarkers(it.Text), "[Image #1]", "(a picture)"), nil
				own.Items = []*model.Item{&it}
				return next.Round(ctx, &own, emit)
			}), nil
		}), contrib.ReplaceTarget(model.ImageSanitizing)))))
	input := kernel.Input{Text: "look", Images: []kernel.Image{{MediaType: "image/png", Data: png}}}
	k.RunOn(t.Context(), k.NewThread(kernel.Options{}), input)
	assert.Equal(t, "0 look\n(a picture)", seen(last(k)))
	disable(t, k, "acme.p")
	k.RunOn(t.Context(), k.NewThread(kernel.Options{}), input)
	assert.Equal(t, "0 look\n[Image #1]", seen(last(k)))
}

// A model that takes images is sent those whose bytes are there. That, too, is image-sanitizing.
func TestAnImageWithoutBytesIsSentAsText(t *testing.T) {
	home := t.TempDir()
	var seen []int
	k := kerneltest.Start(t, kerneltest.Script(), fx.Decorate(func(threadlog.Store) threadlog.Store { return threadlog.Disk(home) }),
		kerneltest.Plugins(plugin("acme.p", wrapping(func(ctx context.Context, next model.Client, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
			for i := range r.Items[0].Images {
				seen = append(seen, len(r.Items[0].Images[i].Data))
			}
			return next.Round(ctx, r, emit)
		}, contrib.ReplaceTarget(model.ImageSanitizing)))))
	turn := k.RunInput(t.Context(), kernel.Input{Text: "look", Images: []kernel.Image{{MediaType: "image/png", Data: png}}})
	assert.Empty(t, turn.Notes())
	files, err := filepath.Glob(filepath.Join(home, "media", "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.Remove(files[0]))
	turn = k.Run("again")
	assert.Equal(t, []int{len(png), 0}, seen)
	require.Len(t, turn.Notes(), 1)
	assert.Equal(t, threadlog.MediaMissing, turn.Notes()[0].Code)
	disable(t, k, "acme.p")
	k.Run("without")
	assert.Equal(t, "look\n[Image #1]", last(k).Items[0].Text)
	assert.Empty(t, last(k).Items[0].Images)
}

func TestRequestsAreTraced(t *testing.T) {
	var rounds []kernel.RoundTrace
	k, models := play(t, map[string][]kerneltest.Step{
		"go": {task("explore", "look"), {Text: "done", Usage: &model.Usage{Input: 7, Output: 2}}, {Err: &model.Error{Code: "provider_http"}}},
	}, record(&rounds))
	th := k.NewThread(kernel.Options{})
	k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	k.RunOn(t.Context(), th, kernel.Input{Text: "fails"})
	require.NoError(t, k.Stop(t.Context()))
	require.Len(t, rounds, 4)
	assert.Equal(t, kernel.RoundTrace{
		Type: "model_round", Purpose: model.Work, Agent: "explore", ParentID: "c1", Thread: models.of("look")[0].Thread, Turn: "t1", Provider: "cast", Model: "m",
		Finish: model.FinishStop, Attempts: 1, DurationMs: rounds[1].DurationMs, FirstTokenMs: rounds[1].FirstTokenMs,
	}, rounds[1])
	assert.Equal(t, &model.Usage{Input: 7, Output: 2}, rounds[2].Usage)
	assert.Equal(t, th.ID(), rounds[2].Thread)
	assert.Equal(t, "provider_http", rounds[3].Code)
	assert.Empty(t, rounds[3].Finish)
}

// Whatever goes through the pipeline is traced: side questions and compactions too. Nothing of it is a key.
func TestRequestsOfEveryPurposeAreTraced(t *testing.T) {
	const key = "sk-do-not-tell"
	var rounds []kernel.RoundTrace
	var raw strings.Builder
	k := kerneltest.Start(t, record(&rounds),
		kerneltest.ScriptOf(model.ClientRequest{ContextWindow: 1 << 20, Key: key}, say("1"), say("2"), say("3"), say("side"), say("summary"),
			kerneltest.Step{Err: errors.New("refused " + key)}),
		contrib.Supply(trace.Sinks, trace.SinkFunc("raw", func(_ context.Context, e trace.Event) error {
			if e.Type == kernel.ModelRound {
				raw.Write(e.Data)
			}
			return nil
		})))
	th := k.Thread()
	for _, mode := range []string{kernel.ModeWork, kernel.ModePlan, kernel.ModeWork} {
		k.RunInput(t.Context(), kernel.Input{Text: "go", Mode: mode})
	}
	_, err := th.Ask(t.Context(), "what?", nil)
	require.NoError(t, err)
	_, err = th.Compact(t.Context(), "", nil)
	require.NoError(t, err)
	k.Run("fails")
	require.NoError(t, k.Stop(t.Context()))
	var got []string
	for _, r := range rounds {
		got = append(got, fmt.Sprintf("%s %s %s%s", r.Purpose, r.Turn, r.Finish, r.Code))
		assert.Equal(t, th.ID(), r.Thread)
		assert.Equal(t, "script test", r.Provider+" "+r.Model)
	}
	assert.Equal(t, []string{"work t1 stop", "plan t2 stop", "work t3 stop", "side  stop", "compaction  stop", "work t4 failed"}, got)
	assert.NotContains(t, raw.String(), key)
}

// The first piece counts from the beginning of the request, and only of the attempt that brought the answer.
func TestTheTimesOfARequestAreTraced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rounds []kernel.RoundTrace
		wait := retry.Settings{Attempts: 1, BaseDelay: time.Second, MaxDelay: time.Second}
		k := kerneltest.Start(t, record(&rounds), fx.Supply(wait),
			kerneltest.Script(kerneltest.Step{Text: "par", Err: &model.Error{Retryable: true}}, say("whole")),
			kerneltest.Plugins(plugin("acme.slow", wrapping(func(ctx context.Context, next model.Client, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
				<-time.After(50 * time.Millisecond)
				answer, err := next.Round(ctx, r, emit)
				<-time.After(30 * time.Millisecond)
				return answer, err
			}, contrib.Order(900)))))
		k.Run("go")
		require.NoError(t, k.Stop(t.Context()))
		require.Len(t, rounds, 1)
		assert.Equal(t, int64(80+1000+80), rounds[0].DurationMs)
		assert.Equal(t, int64(80+1000+50), rounds[0].FirstTokenMs)
	})
}

// The tracing of subagents stands inside of retry.
func TestEachAttemptOfASubagentIsTraced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rounds []kernel.RoundTrace
		k, _ := play(t, map[string][]kerneltest.Step{
			"go":   {task("explore", "look"), say("done")},
			"look": {{Err: &model.Error{Code: "provider_http", Retryable: true}}, say("seen")},
		}, record(&rounds))
		k.Run("go")
		require.NoError(t, k.Stop(t.Context()))
		var got []string
		for _, r := range rounds {
			got = append(got, fmt.Sprintf("%s %s%s %d", r.Agent, r.Finish, r.Code, r.Attempts))
		}
		assert.Equal(t, []string{" tool_calls 1", "explore provider_http 1", "explore stop 1", " stop 1"}, got)
	})
}

func TestAPluginMayTakeSubagentProgressOver(t *testing.T) {
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("explore", "look"), say("done"), task("explore", "look"), say("done")}},
		kerneltest.Plugins(plugin("acme.quiet", wrapping(func(ctx context.Context, next model.Client, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
			return next.Round(ctx, r, emit)
		}, contrib.ReplaceTarget(model.SubagentProgress)))))
	turn := k.Run("go")
	assert.Equal(t, "ok", turn.Calls()[0].Text)
	assert.Empty(t, kerneltest.All[kernel.CallProgress](turn))
	disable(t, k, "acme.quiet")
	assert.Len(t, kerneltest.All[kernel.CallProgress](k.Run("go on")), 1)
}
