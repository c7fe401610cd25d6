package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
	"github.com/crystalkernel/crystal/points/trace"
)

// many are forty deferred tools in two namespaces.
func many() fx.Option {
	var list []tool.Registration
	for i := range 40 {
		ns, name := "mail", fmt.Sprintf("send_%02d", i)
		if i%2 == 0 {
			ns, name = "git", fmt.Sprintf("merge_%02d", i)
		}
		r := reading(name, answering("did "+name))
		r.Definition.Namespace, r.Definition.NamespaceDescription = ns, "What "+ns+" does."
		r.Definition.Exposure, r.Definition.Deferred = tool.DeferredTool, &tool.Deferred{SearchText: "words", Namespace: ns}
		list = append(list, r)
	}
	return source(list...)
}

func find(query string) kerneltest.Step {
	return call(kernel.SearchTool, fmt.Sprintf(`{"query":%q,"limit":2}`, query))
}

func TestDeferredToolsAreOfferedOnceASearchHasFoundThem(t *testing.T) {
	home := t.TempDir()
	store := fx.Decorate(func(threadlog.Store) threadlog.Store { return threadlog.Disk(home) })
	start := func(steps ...kerneltest.Step) *kerneltest.Kernel {
		return kerneltest.Start(t, store, kerneltest.Script(steps...), kerneltest.Tools(reading("look", answering("seen"))), kerneltest.Plugins(plugin("acme.many", many())))
	}
	k := start(find("merge"), find("send"), find("merge"), call("git__merge_02", `{}`), say("done"), say("again"), call("git__merge_02", `{}`), say("gone"))
	th := k.NewThread(kernel.Options{})
	turn := k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	require.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Equal(t, "These tools can be called now:\n\n- git__merge_00: A tool of a test.\n- git__merge_02: A tool of a test.", turn.Calls()[0].Text)
	assert.Equal(t, "did merge_02", turn.Calls()[3].Text)

	requests := k.Model.Requests()
	list := func(i int) string { return strings.Join(toolNames(requests[i]), " ") }
	assert.Equal(t, "look tool_search", list(0))
	assert.Equal(t, "look tool_search git__merge_00 git__merge_02", list(1))
	assert.Equal(t, "look tool_search git__merge_00 git__merge_02 mail__send_01 mail__send_03", list(2), "what was there keeps its place")
	assert.Equal(t, list(2), list(3), "each once")
	assert.Contains(t, requests[0].System, "- git, 20: What git does.\n- mail, 20: What mail does.")
	assert.Equal(t, requests[0].System, requests[3].System)
	assert.JSONEq(t, `{"type":"object"}`, string(requests[1].Tools[2].Schema))

	// They are there in the next turn, and when the thread is opened by another process.
	k.RunOn(t.Context(), th, kernel.Input{Text: "next"})
	requests = k.Model.Requests()
	assert.Equal(t, list(2), list(5))
	require.NoError(t, th.Close(t.Context()))
	other := start(say("resumed"))
	again, err := other.Open(t.Context(), th.ID(), kernel.Options{})
	require.NoError(t, err)
	other.RunOn(t.Context(), again, kernel.Input{Text: "on"})
	assert.Equal(t, list(2), strings.Join(toolNames(last(other)), " "))
	require.NoError(t, again.Close(t.Context()))

	// Without the plugin they are gone, the search and the section with them.
	disable(t, other, "acme.many")
	third, err := other.Open(t.Context(), th.ID(), kernel.Options{})
	require.NoError(t, err)
	other.RunOn(t.Context(), third, kernel.Input{Text: "on"})
	assert.Equal(t, []string{"look"}, toolNames(last(other)))
	assert.NotContains(t, last(other).System, "tool_search")
}

func TestAFoundToolOfADisabledPluginIsUnavailable(t *testing.T) {
	var k *kerneltest.Kernel
	k = kerneltest.Start(t, kerneltest.Script(find("merge"), call("off", `{}`), call("git__merge_00", `{}`), say("done")),
		kerneltest.Tools(reading("off", func(context.Context, tool.Invocation) (tool.Result, error) {
			disable(t, k, "acme.many")
			return tool.Text("off"), nil
		})), kerneltest.Plugins(plugin("acme.many", many())))
	turn := k.Run("go")
	assert.Equal(t, tool.CodeUnavailable, turn.Calls()[2].Code)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
}

func TestAPluginMayTakeToolInjectionOver(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(find("merge"), say("done"), say("again")),
		kerneltest.Plugins(plugin("acme.many", many()),
			plugin("acme.none", contrib.Supply(model.Middlewares, model.MiddlewareFunc("none", func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
				return next, nil
			}), contrib.ReplaceTarget(model.ToolInjection)))))
	k.Run("go")
	assert.Equal(t, []string{"tool_search"}, toolNames(last(k)))
	disable(t, k, "acme.none")
	k.Run("again")
	assert.Equal(t, []string{"tool_search", "git__merge_00", "git__merge_02"}, toolNames(last(k)), "the built-in one is back")
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

// POINT-8: each pipeline has the built-ins that belong to it.
func TestRequestsAreTraced(t *testing.T) {
	var rounds []kernel.RoundTrace
	record := trace.SinkFunc("rounds", func(_ context.Context, e trace.Event) error {
		if e.Type == kernel.ModelRound {
			var r kernel.RoundTrace
			if err := json.Unmarshal(e.Data, &r); err != nil {
				return err
			}
			rounds = append(rounds, r)
		}
		return nil
	})
	k, models := play(t, map[string][]kerneltest.Step{
		"go": {task("explore", "look"), {Text: "done", Usage: &model.Usage{Input: 7, Output: 2}}, {Err: &model.Error{Code: "provider_http"}}},
	}, contrib.Supply(trace.Sinks, record))
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
