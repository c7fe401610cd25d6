package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"testing"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// scripted is the cheapest model that there can be: it asks for calls, rounds times, then answers.
type scripted struct {
	rounds, parallel int
	round            int
}

func (s *scripted) Round(_ context.Context, _ *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	if s.round < s.rounds {
		s.round++
		items := make([]*model.Item, s.parallel)
		for i := range items {
			id := strconv.Itoa(i)
			arguments := `{"text":"` + strconv.Itoa(s.round) + "-" + id + `"}`
			items[i] = &model.Item{Kind: model.ToolCall, CallID: id, Name: "echo", Arguments: arguments}
		}
		return &model.Response{Items: items, Finish: model.FinishToolCalls}, nil
	}
	s.round = 0
	if err := emit(model.Delta{Kind: model.TextDelta, Text: "done"}); err != nil {
		return nil, err
	}
	return &model.Response{
		Items:  []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: "done"}},
		Finish: model.FinishStop,
	}, nil
}

type scriptedFactory struct{ client model.Client }

func (f scriptedFactory) CanCreate(p string) bool { return p == "bench" }
func (f scriptedFactory) Create(context.Context, model.ClientRequest) (model.Client, error) {
	return f.client, nil
}

func (f scriptedFactory) CreateMultimodal(context.Context, model.ClientRequest) (model.Client, error) {
	return nil, nil
}

// echoTools are tools that only compute. apart has each call run on a goroutine of its own all the same, as for a tool that
// may wait.
func echoTools(n int, apart bool) []tool.Registration {
	out := make([]tool.Registration, n)
	for i := range out {
		name := "echo"
		if i > 0 {
			name = fmt.Sprintf("echo%d", i)
		}
		out[i] = tool.Registration{
			Definition: tool.Definition{
				ID: name, Name: name, Description: "Returns its text.", Catalogs: tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
				InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
			},
			Binding: tool.Binding{Inline: !apart, Runtime: tool.RuntimeFunc(func(_ context.Context, i tool.Invocation) (tool.Result, error) {
				return tool.Text(string(i.Arguments)), nil
			})},
		}
	}
	return out
}

func startBench(b testing.TB, client model.Client, tools []tool.Registration, opts ...fx.Option) *kernel.Thread {
	b.Helper()
	return benchThread(b, startBenchKernel(b, client, tools, opts...))
}

func benchThread(b testing.TB, k *kernel.Kernel) *kernel.Thread {
	b.Helper()
	th, err := k.Create(b.Context(), kernel.Options{Workspace: "/workspace", Approval: kernel.ApprovalFull})
	if err != nil {
		b.Fatal(err)
	}
	return th
}

func startBenchKernel(b testing.TB, client model.Client, tools []tool.Registration, opts ...fx.Option) *kernel.Kernel {
	b.Helper()
	var k *kernel.Kernel
	app := fx.New(
		fx.NopLogger, kernel.Module,
		fx.Replace(kernel.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), NoCompaction: false}),
		fx.Decorate(func(kernel.Models) kernel.Models {
			return kernel.ModelsFunc(func(context.Context, string) (model.ClientRequest, error) {
				return model.ClientRequest{Protocol: "bench", Provider: "bench", Model: "m", ContextWindow: 1 << 40}, nil
			})
		}),
		contrib.Supply[model.ClientFactory](model.Protocols, scriptedFactory{client}),
		contrib.Supply[tool.Source](tool.Sources, tool.Fixed("bench", tools...)),
		fx.Options(opts...),
		fx.Populate(&k),
	)
	if err := app.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := app.Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
	})
	return k
}

// threadTurns is how many turns a thread of BenchmarkTurn has: a thread that went on for ever would measure the garbage
// collector at work on its log.
const threadTurns = 64

// BenchmarkTurn runs one turn: the scripted model asks for calls of a tool that echoes, then answers. Policy, approval,
// recording and the log are in place, and somebody reads the events. The tool only computes and says so (Inline); apart has
// one that does not, and so gets a goroutine of its own.
func BenchmarkTurn(b *testing.B) {
	disk := func(b *testing.B) fx.Option {
		return fx.Decorate(func(threadlog.Store) threadlog.Store { return threadlog.Disk(b.TempDir()) })
	}
	for _, c := range []struct {
		name                             string
		rounds, parallel, tools, history int
		disk, apart                      bool
	}{
		{"memory", 1, 1, 1, 0, false, false},
		{"apart", 1, 1, 1, 0, false, true},
		{"disk", 1, 1, 1, 0, true, false},
		{"calls=50", 50, 1, 1, 0, false, false},
		{"parallel=8", 1, 8, 1, 0, false, false},
		{"tools=100", 1, 1, 100, 0, false, false},
		{"tools=1000", 1, 1, 1000, 0, false, false},
		{"history=1000", 1, 1, 1, 1000, false, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			var opts []fx.Option
			if c.disk {
				opts = append(opts, disk(b))
			}
			client := &scripted{rounds: c.rounds, parallel: c.parallel}
			k := startBenchKernel(b, client, echoTools(c.tools, c.apart), opts...)
			thread := func() *kernel.Thread {
				th := benchThread(b, k)
				client.rounds = 0
				for range c.history / 2 { // a message and a reply each
					if _, err := th.Run(b.Context(), kernel.Input{Text: "earlier"}, nil); err != nil {
						b.Fatal(err)
					}
				}
				client.rounds = c.rounds
				return th
			}
			events := 0
			count := func(kernel.Event) { events++ }
			th, turns := thread(), 0
			b.ReportAllocs()
			for b.Loop() {
				if turns++; turns > threadTurns {
					b.StopTimer()
					if err := errors.Join(th.Close(b.Context()), k.Delete(b.Context(), th.ID())); err != nil {
						b.Fatal(err)
					}
					th, turns = thread(), 0
					b.StartTimer()
				}
				r, err := th.Run(b.Context(), kernel.Input{Text: "go"}, count)
				if err != nil || r.Stop != kernel.Completed || r.ToolCalls != c.rounds*c.parallel {
					b.Fatalf("%+v %v", r, err)
				}
			}
			b.ReportMetric(float64(events)/float64(b.N), "events/op")
		})
	}
}

// BenchmarkTurnFloor is the same turn in a loop written by hand, with no framework around it: what nothing can be faster
// than on this machine.
func BenchmarkTurnFloor(b *testing.B) {
	client := &scripted{rounds: 1, parallel: 1}
	runtime := echoTools(1, false)[0].Binding.Runtime
	ctx := b.Context()
	emit := func(model.Delta) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		items := []*model.Item{{Kind: model.Message, Role: model.User, Text: "go"}}
		for {
			answer, err := client.Round(ctx, &model.Request{Items: items}, emit)
			if err != nil {
				b.Fatal(err)
			}
			items = append(items, answer.Items...)
			if answer.Finish == model.FinishStop {
				break
			}
			for _, call := range answer.Items {
				var arguments map[string]any
				if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil {
					b.Fatal(err)
				}
				r, err := runtime.Invoke(ctx, tool.Invocation{CallID: call.CallID, Arguments: json.RawMessage(call.Arguments)})
				if err != nil {
					b.Fatal(err)
				}
				items = append(items, &model.Item{Kind: model.ToolResult, CallID: call.CallID, Text: r.Content[0].Text, Status: model.Success})
			}
		}
	}
}
