package kernel_test

import (
	"context"
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
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
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
	assert.Equal(t, "These tools can be called now:\n\n- git__merge_00 (git): A tool of a test.\n- git__merge_02 (git): A tool of a test.", turn.Calls()[0].Text)
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
	for i := 1; i < len(requests); i++ {
		before := requests[i-1].Tools
		assert.Equal(t, before, requests[i].Tools[:len(before)], "what a provider has cached stays good")
	}

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

// A deferred tool is one of the snapshot: who knows its name calls it without a search.
func TestADeferredToolCanBeCalledBeforeItIsFound(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(call("git__merge_02", `{}`), say("done")), kerneltest.Plugins(plugin("acme.many", many())))
	turn := k.Run("go")
	assert.Equal(t, "did merge_02", turn.Calls()[0].Text)
	assert.Equal(t, []string{"tool_search"}, toolNames(last(k)), "a call finds nothing")
}

func TestARestrictionMayDeferATool(t *testing.T) {
	rare := reading("rare", answering("did rare"))
	rare.Definition.Deferred = &tool.Deferred{SearchText: "seldom"}
	k := kerneltest.Start(t, kerneltest.Script(say("seen"), find("seldom"), say("done")), kerneltest.Tools(reading("look", answering("seen"))),
		kerneltest.Plugins(plugin("acme.tools", source(rare)), plugin("acme.narrow", contrib.Supply[tool.Restriction](tool.Restrictions,
			tool.RestrictionFunc(func(context.Context, tool.Definition, tool.Exposure, tool.Planning) (*tool.Edit, error) {
				return &tool.Edit{Exposure: tool.DeferredTool}, nil // look has no data for it and stays
			})))))
	k.Run("go")
	assert.Equal(t, []string{"look", "tool_search"}, toolNames(last(k)))
	k.Run("search")
	assert.Equal(t, []string{"look", "tool_search", "rare"}, toolNames(last(k)))
	disable(t, k, "acme.narrow")
	k.Run("on")
	assert.Equal(t, []string{"look", "rare"}, toolNames(last(k)), "once, where it belongs")
}

func TestTheNameOfTheSearchIsReserved(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(find("merge"), say("done")),
		kerneltest.Plugins(plugin("acme.thief", source(reading("tool_search", answering("mine")))), plugin("acme.many", many())))
	turn := k.Run("go")
	assert.Contains(t, turn.Calls()[0].Text, "git__merge_00")
	disable(t, k, "acme.many")
	k.Run("on")
	assert.Empty(t, toolNames(last(k)), "nobody else gets it, though nothing is deferred")
}

func TestResultsOfASearchAreShort(t *testing.T) {
	r := reading("wordy", answering(""))
	r.Definition.Description = strings.Repeat("ä", 300) + "\nmore"
	r.Definition.Exposure, r.Definition.Deferred = tool.DeferredTool, &tool.Deferred{SearchText: "x"}
	k := kerneltest.Start(t, kerneltest.Script(find("wordy"), find("zebra"), say("done")), kerneltest.Plugins(plugin("acme.p", source(r))))
	turn := k.Run("go")
	assert.Equal(t, "These tools can be called now:\n\n- wordy: "+strings.Repeat("ä", 200)+"…", turn.Calls()[0].Text)
	assert.Equal(t, "No tool fits. Try other words, or a namespace with a blank query.", turn.Calls()[1].Text)
	assert.Equal(t, r.Definition.Description, last(k).Tools[1].Description, "what it found is offered whole")
}

// What a thread was told that it can call is what it is offered when it is opened again, whatever a search would find by then.
func TestAResumedThreadIsOfferedWhatItWasTold(t *testing.T) {
	home := t.TempDir()
	start := func(steps []kerneltest.Step, names ...string) *kerneltest.Kernel {
		var list []tool.Registration
		for _, name := range names {
			r := reading(name, answering("- b_merge_b: what another tool says finds nothing"))
			r.Definition.Exposure, r.Definition.Deferred = tool.DeferredTool, &tool.Deferred{SearchText: "words"}
			list = append(list, r)
		}
		return kerneltest.Start(t, fx.Decorate(func(threadlog.Store) threadlog.Store { return threadlog.Disk(home) }), kerneltest.Script(steps...),
			kerneltest.Plugins(plugin("acme.p", source(list...)), plugin("acme.late", source(func() tool.Registration {
				r := reading("merge_late", answering(""))
				r.Definition.Exposure, r.Definition.Deferred = tool.DeferredTool, &tool.Deferred{SearchText: "words"}
				return r
			}()))))
	}
	k := start([]kerneltest.Step{
		call("tool_search", `{"query":"merge_b","limit":1}`), call("tool_search", `{"query":"merge_late","limit":1}`),
		call("merge_b", `{}`), call("tool_search", `{"query":"denied"}`), say("done"),
	}, "merge_b")
	_, err := dispatch.Policies.Add(k.Registry().Builtin(), dispatch.PolicyFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
		if strings.Contains(string(c.Arguments), "denied") {
			return dispatch.Denied("acme_denied", "Not these:\n- b_merge_b: no"), nil
		}
		return dispatch.Allowed(), nil
	}))
	require.NoError(t, err)
	th := k.NewThread(kernel.Options{})
	turn := k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	require.Equal(t, []string{"tool_search", "merge_b", "merge_late"}, toolNames(last(k)))
	require.Equal(t, "acme_denied", turn.Calls()[3].Code)
	require.NoError(t, th.Close(t.Context()))

	other := start(nil, "merge_b", "b_merge_b")
	disable(t, other, "acme.late")
	again, err := other.Open(t.Context(), th.ID(), kernel.Options{})
	require.NoError(t, err)
	other.RunOn(t.Context(), again, kernel.Input{Text: "on"})
	assert.Equal(t, []string{"tool_search", "merge_b"}, toolNames(last(other)))
	_, err = other.Plugins.SetEnabled(t.Context(), "acme.late", true, plugins.ScopeProcess)
	require.NoError(t, err)
	other.RunOn(t.Context(), again, kernel.Input{Text: "on"})
	assert.Equal(t, []string{"tool_search", "merge_b", "merge_late"}, toolNames(last(other)), "it is back")
}

func TestOnlyRoundsAreOfferedWhatWasFound(t *testing.T) {
	var th *kernel.Thread
	k := kerneltest.Start(t, kerneltest.Script(find("merge"), call("ask", `{}`), say("aside"), say("done"), say("two"), say("summary")),
		kerneltest.Tools(reading("ask", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			text, err := th.Ask(ctx, "what?", nil)
			return tool.Text(text), err
		})), kerneltest.Plugins(plugin("acme.many", many())))
	th = k.Thread()
	k.Run("go")
	k.Run("on")
	_, err := th.Compact(t.Context(), "", nil)
	require.NoError(t, err)
	got := map[model.Purpose]int{}
	for _, r := range k.Model.Requests()[1:] {
		got[r.Purpose] += len(r.Tools)
	}
	assert.Equal(t, map[model.Purpose]int{model.Work: 3 * 4, model.Side: 0, model.Compaction: 0}, got)
}

// What a search adds to the request counts for the context window.
func TestFoundToolsTakeUpRoom(t *testing.T) {
	var list []tool.Registration
	for i := range 4 {
		r := reading(fmt.Sprintf("big_%d", i), answering(""))
		r.Definition.Description = strings.Repeat("long ", 3000)
		r.Definition.Exposure, r.Definition.Deferred = tool.DeferredTool, &tool.Deferred{SearchText: "x"}
		list = append(list, r)
	}
	k := kerneltest.Start(t, kerneltest.ScriptOf(model.ClientRequest{ContextWindow: 12_000}, find("nothing"), find("big"), find("big_3 big_2"), say("no room")),
		kerneltest.Plugins(plugin("acme.p", source(list...))))
	turn := k.Run("go")
	assert.Equal(t, kernel.ContextOverflow, turn.Result.Stop)
	assert.Len(t, k.Model.Requests(), 3)
}

func TestDeferredToolsAreExplained(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.many", many())))
	list, err := k.ExplainTools(t.Context(), "", kernel.Options{})
	require.NoError(t, err)
	require.Len(t, list, 41)
	assert.Equal(t, "tool_search", list[0].Name)
	assert.Equal(t, "builtin", list[0].Owner)
	assert.Positive(t, list[0].Bytes)
	assert.Equal(t, tool.DeferredTool, list[1].Exposure)
	assert.Zero(t, list[1].Bytes, "it is not in the request")
}
