package kernel_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/tool"
)

// A runtime of one thread is offered there, whatever another thread has planned before.
func TestARuntimeOfOneThread(t *testing.T) {
	k, models := play(t, nil)
	dir := t.TempDir()
	mine, other := k.NewThread(kernel.Options{Workspace: dir}), k.NewThread(kernel.Options{Workspace: dir})
	handle, err := subagent.Runtimes.Add(k.Registry().Builtin(), &hired{kind: "acme"}, contrib.InThread(contrib.ThreadID(mine.ID())))
	require.NoError(t, err)
	offered := func(th *kernel.Thread) bool {
		t.Helper()
		k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
		all := models.of("go")
		r := all[len(all)-1]
		inSchema := strings.Contains(string(r.Tools[0].Schema), "acme")
		assert.Equal(t, inSchema, strings.Contains(r.System, "- acme:"))
		found := false
		for _, p := range k.Profiles(th) {
			found = found || p.Name == "acme"
		}
		assert.Equal(t, inSchema, found, "all readers have one catalog")
		return inSchema
	}
	assert.True(t, offered(mine))
	assert.False(t, offered(other))
	assert.True(t, offered(mine))
	handle.Revoke()
	assert.False(t, offered(mine))
}

// The turn keeps the catalog that it began with, in every prompt that it composes; the next one has another.
func TestPromptsOfATurnHaveOneCatalog(t *testing.T) {
	var k *kerneltest.Kernel
	var handle *contrib.Handle
	k, models := play(t, map[string][]kerneltest.Step{"go": {call("off", `{}`), say("done"), say("next")}},
		kerneltest.Tools(reading("off", func(context.Context, tool.Invocation) (tool.Result, error) {
			handle.Revoke()
			return tool.Text("off"), nil
		})),
		contrib.Supply[prompt.ChatContext](prompt.ChatContexts, phase{func() string {
			if handle.Live() {
				return "before"
			}
			return "after"
		}}))
	var err error
	handle, err = subagent.Runtimes.Add(k.Registry().Builtin(), &hired{kind: "acme"})
	require.NoError(t, err)
	k.Run("go")
	k.Run("on")
	all := models.of("go")
	require.Len(t, all, 3)
	assert.Contains(t, all[0].System, "before")
	for i, want := range []bool{true, true, false} {
		assert.Equal(t, want, strings.Contains(all[i].System, "- acme:"), i)
		assert.Equal(t, want, strings.Contains(string(all[i].Tools[1].Schema), "acme"), i)
	}
}

// phase tells the prompt what a function says.
type phase struct{ say func() string }

func (p phase) Section(context.Context, prompt.Chat) (string, error)        { return p.say(), nil }
func (p phase) RuntimeLines(context.Context, prompt.Chat) ([]string, error) { return nil, nil }

// The same profiles give the same bytes, however they came to be.
func TestProfilesGiveTheSameBytes(t *testing.T) {
	k, models := play(t, nil)
	th := k.NewThread(kernel.Options{})
	for range 2 {
		k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
		handle, err := subagent.Runtimes.Add(k.Registry().Builtin(), &hired{kind: "acme"})
		require.NoError(t, err)
		k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
		handle.Revoke()
	}
	all := models.of("go")
	for i := range 2 {
		assert.Equal(t, all[i].System, all[i+2].System)
		assert.Equal(t, all[i].Tools, all[i+2].Tools)
	}
	assert.NotEqual(t, all[0].System, all[1].System)
}

// Nothing is left out in silence, and each is told of once.
func TestTakenNamesAreToldOnce(t *testing.T) {
	k, _ := play(t, nil,
		fx.Replace(kernel.Config{Profiles: []subagent.Profile{{Name: "Not one"}, {Name: "far", Runtime: "nobody"}, {Name: "near"}}}),
		kerneltest.Plugins(plugin("acme.r",
			contrib.Supply[subagent.Source](subagent.Runtimes, &remote{kind: "one", profiles: []string{"p", "general", "p"}}),
			contrib.Supply[subagent.Source](subagent.Runtimes, &remote{kind: "one", profiles: []string{"q"}}),
			contrib.Supply[subagent.Source](subagent.Runtimes, &remote{kind: "two", profiles: []string{"p"}}))))
	for range 2 {
		var names []string
		for _, p := range k.Profiles(nil) {
			names = append(names, p.Name)
		}
		assert.Equal(t, []string{"explore", "general", "near", "p"}, names)
	}
	var told []string
	for _, d := range k.Registry().Diagnostics() {
		if d.Code == "PluginContributionInvalid" {
			told = append(told, d.Params["name"].(string)+" "+d.Params["reasonCode"].(string))
		}
	}
	assert.Equal(t, []string{"general reserved", "p duplicate", "one duplicate", "p duplicate"}, told)
}

// What a source of agent.context is told about subagents.
func TestSourcesOfTheContextKnowTheProfiles(t *testing.T) {
	var mu sync.Mutex
	asked := map[string][]string{}
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("explore", "look"), say("done")}},
		contrib.Supply[agent.Source](agent.Contexts, agent.SourceFunc(func(_ context.Context, r agent.Request) (agent.Provider, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[r.Agent] = r.Prompt.SubagentProfiles
			return nil, nil
		})))
	k.Run("go")
	assert.Equal(t, map[string][]string{"": {"explore", "general"}, "explore": nil}, asked)
}

// The name of the tool is the host's, also where it is not offered.
func TestNobodyElseOffersTheToolToSubagents(t *testing.T) {
	k, models := play(t, map[string][]kerneltest.Step{"go": {task("general", "do"), say("done")}, "do": {task("general", "deeper"), say("no")}},
		kerneltest.Plugins(plugin("acme.p", source(reading("task", answering("a trap"))))))
	turn := k.Run("go")
	assert.Empty(t, models.of("do")[0].Tools)
	assert.Equal(t, tool.CodeNotFound, callsOf(turn, "general")[0].Code)
}

// A subagent of a planning turn plans too.
func TestASubagentHasTheModeOfTheTurn(t *testing.T) {
	work := writing("change", answering("changed"))
	work.Definition.Catalogs = tool.CatalogWork
	k, models := play(t, map[string][]kerneltest.Step{"go": {task("general", "do"), say("done")}}, kerneltest.Tools(work, reading("look", answering("seen"))))
	k.RunInput(t.Context(), kernel.Input{Text: "go", Mode: kernel.ModePlan})
	assert.Equal(t, []string{"look"}, toolNames(models.of("do")[0]))
	assert.Equal(t, model.Plan, models.of("do")[0].Purpose)
	assert.Contains(t, models.of("do")[0].System, "You are planning")
}

// The approval mode is that of the parent's thread, as it is at each call.
func TestASubagentHasTheLiveApprovalMode(t *testing.T) {
	var k *kerneltest.Kernel
	var th *kernel.Thread
	k, _ = play(t, map[string][]kerneltest.Step{
		"go": {task("general", "do"), say("done")}, "do": {call("change", `{}`), call("look", `{}`), call("change", `{}`), say("did")},
	}, kerneltest.Tools(
		writing("change", answering("changed")),
		reading("look", func(context.Context, tool.Invocation) (tool.Result, error) {
			return tool.Text("now ask"), th.SetApproval(kernel.ApprovalDefault)
		})))
	th = k.NewThread(kernel.Options{Approval: kernel.ApprovalFull})
	turn := k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	theirs := callsOf(turn, "general")
	require.Len(t, theirs, 3)
	assert.Equal(t, []string{"", "", tool.CodeApprovalRejected}, []string{theirs[0].Code, theirs[1].Code, theirs[2].Code})
	assert.Equal(t, 1, turn.Result.Denials)
}

// Every stage sees what a subagent does, and whose it is.
func TestEveryStageSeesASubagent(t *testing.T) {
	var mu sync.Mutex
	seen := map[string][]string{}
	note := func(stage, agent, parent string) {
		mu.Lock()
		defer mu.Unlock()
		seen[stage] = append(seen[stage], agent+"<"+parent)
	}
	k, models := play(t, map[string][]kerneltest.Step{
		"go": {task("general", "do"), say("done")}, "do": {call("outer", `{}`), say("did")},
	},
		kerneltest.Tools(
			reading("inner", answering("in")),
			reading("outer", func(ctx context.Context, i tool.Invocation) (tool.Result, error) { return i.Call(ctx, "inner", nil) })),
		kerneltest.Plugins(plugin("acme.p",
			contrib.Supply[hook.ToolCall](hook.ToolCalls, hook.ToolCallFunc(func(_ context.Context, c hook.Call) (*hook.Call, error) {
				note("tool_call", c.Agent, c.ParentID)
				return nil, nil
			})),
			contrib.Supply[hook.ToolResult](hook.ToolResults, hook.ToolResultFunc(func(_ context.Context, c hook.Call, _ hook.Result) (*hook.Result, error) {
				note("tool_result", c.Agent, c.ParentID)
				return nil, nil
			})),
			contrib.Supply[hook.Approval](hook.Approvals, hook.ApprovalFunc(func(_ context.Context, c hook.Call, _ tool.Classification) (*hook.Advice, error) {
				note("approval", c.Agent, c.ParentID)
				return nil, nil
			})),
			contrib.Supply[dispatch.Policy](dispatch.Policies, dispatch.PolicyFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
				note("policy", c.Agent, c.ParentID)
				return dispatch.Allowed(), nil
			})),
			contrib.Supply[dispatch.Recorder](dispatch.Recorders, starts(func(c dispatch.Call) { note("recorder", c.Agent, c.ParentID) })),
			contrib.Supply[rawhook.RebuildModel](rawhook.RebuildModels, rawhook.RebuildModelFunc(func(_ context.Context, r hook.Request) ([]hook.Item, error) {
				note("rebuild_model", r.Agent, "")
				return nil, nil
			})),
			contrib.Supply[hook.TransformModel](hook.TransformModels, hook.TransformModelFunc(func(_ context.Context, r hook.Request) ([]hook.Item, error) {
				note("transform_model", r.Agent, "")
				return nil, nil
			})),
			contrib.Supply[hook.ModelResponse](hook.ModelResponses, hook.ModelResponseFunc(func(_ context.Context, r hook.Response) error {
				note("model_response", r.Agent, "")
				return nil
			})),
			contrib.Supply[hook.Prompt](hook.Prompts, hook.PromptFunc(func(_ context.Context, i hook.PromptInfo, _ string) (string, error) {
				note("prompt", i.Agent, "")
				return "Hooked.", nil
			})))))
	turn := k.Run("go")
	all := turn.Calls()
	require.Len(t, all, 3)
	task, outer := all[2].CallID, all[1].CallID
	began := []string{"<", "general<" + task, "general<" + outer}
	for _, stage := range []string{"tool_call", "approval", "policy", "recorder"} {
		assert.Equal(t, began, seen[stage], stage)
	}
	assert.Equal(t, []string{began[2], began[1], began[0]}, seen["tool_result"], "the innermost ends first")
	for _, stage := range []string{"rebuild_model", "transform_model", "model_response"} {
		assert.Equal(t, []string{"<", "general<", "general<", "<"}, seen[stage], stage)
	}
	assert.Equal(t, []string{"<", "general<"}, seen["prompt"])
	assert.Contains(t, models.of("do")[0].System, "Hooked.")
	assert.Equal(t, outer, all[0].ParentID)
	assert.Equal(t, "general", all[0].Agent)
	assert.Equal(t, 3, turn.Result.ToolCalls)
}
