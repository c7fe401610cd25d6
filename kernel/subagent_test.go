package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
)

// cast is a model that plays every agent: what it answers follows from the first user message of the request.
type cast struct {
	mu       sync.Mutex
	parts    map[string][]kerneltest.Step
	requests map[string][]*model.Request
}

// play is a host whose agents have parts, each known by what it is told first.
func play(t *testing.T, parts map[string][]kerneltest.Step, opts ...fx.Option) (*kerneltest.Kernel, *cast) {
	t.Helper()
	c := &cast{parts: parts, requests: map[string][]*model.Request{}}
	return kerneltest.Start(t, append(opts, kernel.Subagents,
		contrib.Supply[model.ClientFactory](model.Protocols, c),
		fx.Decorate(func(kernel.Models) kernel.Models {
			return kernel.ModelsFunc(func(context.Context, string) (model.ClientRequest, error) {
				return model.ClientRequest{Protocol: "cast", Provider: "cast", Model: "m", ContextWindow: 1 << 20}, nil
			})
		}))...), c
}

func (c *cast) CanCreate(p string) bool { return p == "cast" }
func (c *cast) Create(context.Context, model.ClientRequest) (model.Client, error) {
	return c, nil
}

func (c *cast) CreateMultimodal(context.Context, model.ClientRequest) (model.Client, error) {
	return nil, nil
}

func (c *cast) Round(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	part := r.Items[0].Text
	c.mu.Lock()
	c.requests[part] = append(c.requests[part], r)
	one := &kerneltest.Model{}
	if steps := c.parts[part]; len(steps) > 0 {
		one.Then(steps[0])
		c.parts[part] = steps[1:]
	}
	c.mu.Unlock()
	return one.Round(ctx, r, emit)
}

func (c *cast) of(part string) []*model.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[part]
}

// task is a step that hands a task to a profile.
func task(profile, text string) kerneltest.Step {
	return call(kernel.TaskTool, fmt.Sprintf(`{"profile":%q,"task":%q}`, profile, text))
}

func callsOf(turn kerneltest.Turn, agent string) (out []kernel.CallEnded) {
	for _, c := range turn.Calls() {
		if c.Agent == agent {
			out = append(out, c)
		}
	}
	return out
}

func TestSubagentDoesItsTaskAndAnswers(t *testing.T) {
	k, models := play(t, map[string][]kerneltest.Step{
		"go":       {task("explore", "look"), say("all is well")},
		"look":     {call("read", `{"path":"a.txt"}`), say("it says A")},
		"continue": {say("yes")},
	}, kerneltest.Tools(abc().tool(), writing("write", answering("written"))))
	th := k.NewThread(kernel.Options{})
	turn := k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	require.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Equal(t, "all is well", turn.Result.Text)
	assert.Equal(t, 4, turn.Result.ModelCalls)
	assert.Equal(t, 2, turn.Result.ToolCalls)

	own := callsOf(turn, "")
	require.Len(t, own, 1)
	assert.Equal(t, "task", own[0].Name)
	assert.Equal(t, "it says A", own[0].Text)
	theirs := callsOf(turn, "explore")
	require.Len(t, theirs, 1)
	assert.Equal(t, "read", theirs[0].Name)
	assert.Equal(t, own[0].CallID, theirs[0].ParentID)
	var said string
	for _, p := range kerneltest.All[kernel.CallProgress](turn) {
		assert.Equal(t, own[0].CallID, p.CallID)
		said += p.Text
	}
	assert.Equal(t, "it says A", said, "what the subagent says is progress of the call")

	requests := models.of("look")
	require.Len(t, requests, 2)
	require.Len(t, results(requests[1]), 1)
	assert.Equal(t, "A", results(requests[1])[0].Text, "it sees what its call came to")
	assert.NotEqual(t, own[0].CallID, theirs[0].CallID, "both models gave the id c1")
	assert.Equal(t, []string{"read"}, toolNames(requests[0]), "those of the profile, and neither task nor write")
	assert.Contains(t, requests[0].System, "You are a subagent")
	assert.Equal(t, "explore", requests[0].Agent)
	assert.Empty(t, models.of("go")[0].Agent)
	assert.Equal(t, []string{"read", "task", "write"}, toolNames(models.of("go")[0]))
	assert.Contains(t, models.of("go")[0].System, "- explore: Looks through the workspace")
	assert.NotContains(t, requests[0].System, "- explore:")

	// The parent's log has it all, and its requests have nothing of it.
	var agents []string
	for _, r := range stored[*threadlog.Round](t, k, th) {
		agents = append(agents, r.Agent)
	}
	child := requests[0].Thread
	assert.Equal(t, []string{"", child, child, ""}, agents)
	started := stored[*threadlog.Call](t, k, th)
	require.Len(t, started, 2)
	assert.Equal(t, child, started[1].Agent)
	assert.Equal(t, started[0].CallID, started[1].ParentCallID)
	last := models.of("go")[1]
	assert.Len(t, last.Items, 3, "the message, the call and its result")
	list, _, err := k.Threads().List(t.Context(), threadlog.Filter{})
	require.NoError(t, err)
	assert.Len(t, list, 1, "a subagent is no thread of its own")
	assert.False(t, k.IsOpen(child))
}

// FIELD-A12
func TestSubagentIsNotOutside(t *testing.T) {
	var mu sync.Mutex
	var judged []dispatch.Call
	var hooked []hook.Call
	var recorded []string
	k, models := play(t, map[string][]kerneltest.Step{
		"go":     {task("general", "run ls"), say("denied, then")},
		"run ls": {call("bash", `{"command":"ls"}`), say("I may not")},
	},
		kerneltest.Tools(writing("bash", answering("ran"))),
		kerneltest.Plugins(plugin("acme.policy",
			contrib.Supply[dispatch.Policy](dispatch.Policies, dispatch.PolicyFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
				mu.Lock()
				defer mu.Unlock()
				judged = append(judged, c)
				if c.Definition.Name == "bash" {
					return dispatch.Denied("acme_denied", "Not here."), nil
				}
				return dispatch.Allowed(), nil
			})),
			contrib.Supply[hook.ToolCall](hook.ToolCalls, hook.ToolCallFunc(func(_ context.Context, c hook.Call) (*hook.Call, error) {
				mu.Lock()
				defer mu.Unlock()
				hooked = append(hooked, c)
				return nil, nil
			})),
			contrib.Supply[dispatch.Recorder](dispatch.Recorders, starts(func(c dispatch.Call) {
				mu.Lock()
				defer mu.Unlock()
				recorded = append(recorded, c.Definition.Name)
			})))))
	turn := k.Run("go")
	theirs := callsOf(turn, "general")
	require.Len(t, theirs, 1)
	assert.Equal(t, "acme_denied", theirs[0].Code)
	assert.Equal(t, 1, turn.Result.Denials)
	child := models.of("run ls")[0].Thread
	require.Len(t, judged, 2, "starting the subagent was itself seen as a call")
	assert.Equal(t, "task", judged[0].Definition.Name)
	assert.Equal(t, child, judged[1].Thread)
	assert.Equal(t, judged[0].ID, judged[1].ParentID)
	assert.Equal(t, "general", judged[1].Agent)
	require.Len(t, hooked, 2)
	assert.Equal(t, hook.Scope{Thread: child, Turn: "t1", Workspace: k.Thread().Workspace(), Agent: "general"}, hooked[1].Scope)
	assert.Equal(t, []string{"task"}, recorded, "a refusal leaves no record")
}

// starts is a recorder that tells of starts.
type starts func(c dispatch.Call)

func (r starts) Started(_ context.Context, c dispatch.Call) error {
	r(c)
	return nil
}
func (starts) Ended(context.Context, dispatch.Call, tool.Result, time.Duration) error { return nil }

func TestObserversSeeSubagentsAndTheirParents(t *testing.T) {
	o := &observers{}
	k, models := play(t, map[string][]kerneltest.Step{"go": {task("general", "do"), say("done")}, "do": {say("did")}},
		contrib.Supply[thread.Observer](thread.Observers, o), contrib.Supply[thread.TurnObserver](thread.TurnObservers, o),
		contrib.Supply[hook.TurnObserver](hook.Turns, hookedTurns{o}))
	th := k.NewThread(kernel.Options{})
	k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	child := models.of("do")[0].Thread
	assert.Equal(t, []string{
		"started " + th.ID() + " of , ", "hook turn " + th.ID(), "turn " + th.ID() + " ",
		"started " + child + " of " + th.ID() + ", general", "turn " + child + " general", "ended " + child + " completed",
		"deleting " + child, "hook ended " + th.ID(), "ended " + th.ID() + " completed",
	}, o.lines)
}

type observers struct{ lines []string }

func (o *observers) Started(_ context.Context, i thread.Info) error {
	o.lines = append(o.lines, "started "+i.ID+" of "+i.Parent+", "+i.Agent)
	return nil
}
func (o *observers) Resumed(context.Context, thread.Info) error { return nil }
func (o *observers) Deleting(_ context.Context, i thread.Info) error {
	o.lines = append(o.lines, "deleting "+i.ID)
	return nil
}

func (o *observers) TurnStarted(_ context.Context, i thread.Turn) error {
	o.lines = append(o.lines, "turn "+i.Thread+" "+i.Agent)
	return nil
}

func (o *observers) TurnEnded(_ context.Context, i thread.Turn, s thread.Status, _ error) error {
	o.lines = append(o.lines, "ended "+i.Thread+" "+string(s))
	return nil
}

type hookedTurns struct{ o *observers }

func (h hookedTurns) TurnStarted(_ context.Context, t hook.Turn) error {
	h.o.lines = append(h.o.lines, "hook turn "+t.Thread)
	return nil
}

func (h hookedTurns) TurnFinished(_ context.Context, t hook.Turn) error {
	h.o.lines = append(h.o.lines, "hook ended "+t.Thread)
	return nil
}

func TestTheOperatorIsAskedForASubagent(t *testing.T) {
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("general", "do"), say("done")}, "do": {call("change", `{}`), say("changed")}},
		kerneltest.Tools(writing("change", answering("ok"))), kerneltest.Answers(approval.Once))
	turn := k.RunOn(t.Context(), k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault}), kernel.Input{Text: "go"})
	asked := kerneltest.All[kernel.ApprovalAsked](turn)
	require.Len(t, asked, 1)
	assert.Equal(t, "general", asked[0].Agent)
	assert.Equal(t, turn.Calls()[1].CallID, asked[0].ParentID)
	assert.Equal(t, "ok", callsOf(turn, "general")[0].Text)
}

// Two tasks of one round run at the same time; nothing of them is mixed up.
func TestTasksRunAtTheSameTime(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	k, _ := play(t, map[string][]kerneltest.Step{
		"go": {{Calls: []kerneltest.Call{
			{Name: "task", Arguments: `{"profile":"explore","task":"a"}`}, {Name: "task", Arguments: `{"profile":"explore","task":"b"}`},
		}}, say("both")},
		"a": {{Calls: []kerneltest.Call{{ID: "x", Name: "meet", Arguments: `{"as":"a"}`}}}, say("from a")},
		"b": {{Calls: []kerneltest.Call{{ID: "x", Name: "meet", Arguments: `{"as":"b"}`}}}, say("from b")},
	},
		fx.Replace(kernel.Config{Profiles: []subagent.Profile{{Name: "explore", Description: "x"}}}),
		kerneltest.Tools(reading("meet", func(_ context.Context, i tool.Invocation) (tool.Result, error) {
			both.Done()
			both.Wait()
			return tool.Text(string(i.Arguments)), nil
		})))
	turn := k.Run("go")
	own := callsOf(turn, "")
	require.Len(t, own, 2)
	assert.Equal(t, []string{"from a", "from b"}, []string{own[0].Text, own[1].Text})
	for _, c := range callsOf(turn, "explore") {
		want := own[0].CallID
		if strings.Contains(c.Text, `"b"`) {
			want = own[1].CallID
		}
		assert.Equal(t, want, c.ParentID)
		assert.Equal(t, []string{"call_pending", "call_started", "call_ended"}, types(turn, c.CallID), "no two have one id")
	}
	var open []string
	for _, r := range stored[*threadlog.Result](t, k, k.Thread()) {
		open = append(open, r.Agent)
	}
	assert.Len(t, open, 4)
}

// POINT-8, a subagent: it has a pipeline of its own, of the same entries.
func TestThePipelineOfASubagent(t *testing.T) {
	var order []string
	var mu sync.Mutex
	entry := func(name string, at int) fx.Option {
		return contrib.Supply(model.Middlewares, model.MiddlewareFunc(name, func(_ context.Context, next model.Client, i model.PipelineInfo) (model.Client, error) {
			return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
				mu.Lock()
				order = append(order, string(i.Kind)+" "+name)
				mu.Unlock()
				if r.Thread != i.Thread {
					return nil, errors.New("the request of another thread")
				}
				if i.Kind == model.Subagent && name == "short" {
					return &model.Response{Items: []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: "in short"}}, Finish: model.FinishStop}, nil
				}
				return next.Round(ctx, r, emit)
			}), nil
		}), contrib.Order(at))
	}
	k, models := play(t, map[string][]kerneltest.Step{"go": {task("general", "do"), say("done")}},
		kerneltest.Plugins(plugin("acme.p", entry("short", 650), entry("outer", 150), entry("middle", 250))))
	turn := k.Run("go")
	assert.Equal(t, []string{
		"agent outer", "agent middle", "agent short",
		"subagent outer", "subagent middle", "subagent short",
		"agent outer", "agent middle", "agent short",
	}, order)
	assert.Equal(t, "in short", turn.Calls()[0].Text)
	assert.Empty(t, models.of("do"), "the model was not asked")
}
