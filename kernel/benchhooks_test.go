package kernel_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
)

// BenchmarkTurnHooks is the turn of BenchmarkTurn with ten hooks on each hook point that do nothing, on a fresh thread each
// time, because model hooks see the whole of it: those of the host are called as they are, those of a plugin through its
// gate, each with its deadline.
func BenchmarkTurnHooks(b *testing.B) {
	var ten []fx.Option
	for range 10 {
		ten = append(ten, slices.Collect(maps.Values(probes(func(string) {})))...)
	}
	for _, c := range []struct {
		name string
		opts []fx.Option
	}{
		{"none", nil},
		{"host", ten},
		{"plugin", []fx.Option{plugins.Module(plugin("acme.bench", ten...))}},
	} {
		b.Run(c.name, func(b *testing.B) {
			k := startBenchKernel(b, &scripted{rounds: 1, parallel: 1}, echoTools(1, false), c.opts...)
			b.ReportAllocs()
			var threads []*kernel.Thread
			refill := func() {
				b.StopTimer()
				for _, th := range threads {
					if err := errors.Join(th.Close(b.Context()), k.Delete(b.Context(), th.ID())); err != nil {
						b.Fatal(err)
					}
				}
				threads = threads[:0]
				for range threadTurns {
					threads = append(threads, benchThread(b, k))
				}
				b.StartTimer()
			}
			for n := 0; b.Loop(); n++ {
				if n%threadTurns == 0 {
					refill()
				}
				r, err := threads[n%threadTurns].Run(b.Context(), kernel.Input{Text: "go"}, func(kernel.Event) {})
				if err != nil || r.Stop != kernel.Completed {
					b.Fatalf("%+v %v", r, err)
				}
			}
		})
	}
}

// streams emits deltas until it has emitted n.
type streams struct{ n int }

func (s *streams) Round(_ context.Context, _ *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	for range s.n {
		if err := emit(model.Delta{Kind: model.TextDelta, Text: "word "}); err != nil {
			return nil, err
		}
	}
	return &model.Response{Finish: model.FinishStop}, nil
}

// BenchmarkMiddlewareStream sends a stream through five middlewares that look at each delta. One operation is one delta.
func BenchmarkMiddlewareStream(b *testing.B) {
	five := func() fx.Option {
		var opts []fx.Option
		for i := range 5 {
			opts = append(opts, contrib.Supply(model.Middlewares, model.MiddlewareFunc("m"+strconv.Itoa(i),
				func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
					return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
						return next.Round(ctx, r, func(d model.Delta) error { return emit(d) })
					}), nil
				})))
		}
		return fx.Options(opts...)
	}
	for _, c := range []struct {
		name   string
		opts   fx.Option
		listen func(kernel.Event)
	}{
		{"host", five(), func(kernel.Event) {}},
		{"plugin", plugins.Module(plugin("acme.bench", five())), func(kernel.Event) {}},
		{"nobody listens", five(), nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			client := &streams{n: b.N}
			th := startBench(b, client, echoTools(1, false), c.opts)
			b.ReportAllocs()
			b.ResetTimer()
			r, err := th.Run(b.Context(), kernel.Input{Text: "go"}, c.listen)
			b.StopTimer()
			if err != nil || r.Stop != kernel.Completed {
				b.Fatalf("%+v %v", r, err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deltas/s")
		})
	}
}

// BenchmarkComposePrompt composes a prompt of twenty sections from unchanged inputs.
func BenchmarkComposePrompt(b *testing.B) {
	registry, err := contrib.New(points.Catalog()...)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 20 {
		text := "# Section " + strconv.Itoa(i) + "\n\nDo what was asked, and nothing beside it.\n"
		_, err := prompt.Sections.Add(registry.Builtin(), prompt.SectionFunc("s"+strconv.Itoa(i),
			func(context.Context, prompt.Context) (string, error) { return text, nil }))
		if err != nil {
			b.Fatal(err)
		}
	}
	report := func(*contrib.EntryInfo, *contrib.CallError) {}
	live := composer.NewLive()
	thread := live.Open("t")
	b.ReportAllocs()
	for b.Loop() {
		thread.Begin(composer.Inputs{Context: prompt.Context{Thread: "t"}, Report: report}, prompt.Chat{})
		if text, err := thread.Prompt(b.Context(), registry.View()); err != nil || text == "" {
			b.Fatal(err)
		}
	}
}

// TestCostOfATurn holds the shapes that times on a busy machine cannot hold: memory counts the same everywhere.
func TestCostOfATurn(t *testing.T) {
	if raceEnabled {
		return // the detector allocates on its own
	}
	cost := func(rounds, tools int) float64 {
		th := startBench(t, &scripted{rounds: rounds, parallel: 1}, echoTools(tools, false))
		return testing.AllocsPerRun(200, func() {
			if r, err := th.Run(t.Context(), kernel.Input{Text: "go"}, func(kernel.Event) {}); err != nil || r.ToolCalls != rounds {
				t.Fatalf("%+v %v", r, err)
			}
		})
	}
	one := cost(1, 1)
	if one > 70 {
		t.Errorf("one tool call costs %v allocations, more than 70", one)
	}
	if fifty := cost(50, 1); fifty > 60*one {
		t.Errorf("50 calls one after another cost %v allocations, more than 60 times %v", fifty, one)
	}
	if many := cost(1, 100); many > 1.2*one {
		t.Errorf("with 100 known tools a call costs %v allocations, more than 1.2 times %v", many, one)
	}
}
