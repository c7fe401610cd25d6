package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/tool"
)

// TaskTool is the canonical name of the built-in tool that hands a task to a subagent.
const TaskTool = "task"

// Subagents lets agents start subagents: the runtime of the kernel with its profiles, and the tool [TaskTool]. It belongs
// into an app beside [Module].
var Subagents = fx.Options(
	contrib.ProvideSet(func(k *Kernel) contrib.Set {
		return contrib.Set{
			contrib.Item[subagent.Source](subagent.Runtimes, ownRuntime{}, contrib.Order(100), contrib.Label(OwnRuntime)),
			contrib.Item[tool.Source](tool.Sources, taskSource{k}, contrib.Order(110), contrib.Label("subagents")),
			contrib.Item[model.Middleware](model.Middlewares, model.MiddlewareFunc(model.SubagentProgress, showProgress),
				contrib.Named(model.SubagentProgress), contrib.Order(400), contrib.Label(model.SubagentProgress)),
		}
	}),
)

// viewKey is the key of the view in the context of a planning pass.
type viewKey struct{}

// taskSource offers the tool to main agents, as long as there is a profile.
type taskSource struct{ kernel *Kernel }

var _ tool.FixedSource = taskSource{}

func (taskSource) SourceID() string { return "tools:subagents" }

// FixedTools keeps its promise because a plan is made again when the runtimes change.
func (taskSource) FixedTools() {}

func (s taskSource) Tools(ctx context.Context, p tool.Planning) ([]tool.Registration, error) {
	v, ok := ctx.Value(viewKey{}).(*contrib.View)
	if !ok || p.ThreadKind != string(model.Agent) {
		return nil, nil
	}
	list := s.kernel.profiles(v, p.Thread)
	if len(list) == 0 {
		return nil, nil
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	enum, err := json.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("kernel: the names of the profiles: %w", err)
	}
	return []tool.Registration{{
		Definition: tool.Definition{
			ID: TaskTool, Name: TaskTool,
			Description: "Hands a task to a subagent that works on its own and returns one answer. It sees nothing of this conversation, so " +
				"say all that it needs to know and what the answer has to contain. Several calls in one answer run at the same time.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"profile":{"type":"string","enum":` + string(enum) +
				`},"task":{"type":"string","minLength":1}},"required":["profile","task"],"additionalProperties":false}`),
			Hints: &tool.Hints{ReadOnly: true}, Catalogs: tool.CatalogBoth,
		},
		Binding: tool.Binding{
			Timeout: tool.Unlimited, Grace: taskGrace, Runtime: tool.RuntimeFunc(s.kernel.runTask),
			// What the subagent does is judged call by call.
			Classify: func(_ context.Context, c tool.Call, _ string) tool.Classification {
				return tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: TaskTool}
			},
		},
	}}, nil
}

// taskGrace is how long a cancelled task may take: the tools that the subagent runs have their own time to end before it.
const taskGrace = 3 * time.Second

// CodeSubagentFailed is the code of a task that a subagent did not do.
const CodeSubagentFailed = "subagent_failed"

var (
	errNoTurn    = errors.New("kernel: a task was started outside of a turn")
	errNoSession = errors.New("kernel: the runtime made no session")
)

// runTask is the tool.
func (k *Kernel) runTask(ctx context.Context, i tool.Invocation) (tool.Result, error) {
	th, ok := ctx.Value(turnKey{}).(*Thread)
	if !ok || th.child != nil {
		return tool.Result{}, errNoTurn
	}
	var in struct{ Profile, Task string }
	if err := json.Unmarshal(i.Arguments, &in); err != nil {
		return tool.Result{}, fmt.Errorf("kernel: the arguments of a task: %w", err)
	}
	p, ok := find(k.profiles(th.turn.view, th.id), in.Profile)
	if !ok {
		return tool.Failed(tool.CodeInputInvalid, fmt.Sprintf("There is no profile %q any more.", in.Profile)), nil
	}
	c, err := k.newChild(ctx, th.turn, i.CallID, p.Profile)
	if err != nil {
		return tool.Result{}, err
	}
	defer func() {
		if err := c.end(); err != nil {
			k.log.Error("the thread of a subagent did not end cleanly", "thread", c.thread.id, "error", err)
		}
	}()
	out, err := c.serve(ctx, p.runtime, in.Task, i.Progress)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case errors.Is(err, contrib.ErrRevoked):
		return tool.Failed(CodeSubagentFailed, "The subagent's plugin was switched off."), nil
	case err != nil:
		k.log.Error("a subagent failed", "thread", th.id, "profile", p.Name, "error", err)
		if failure, ok := errors.AsType[*contrib.CallError](err); ok {
			c.with(func() { c.parent.reportFailure(&p.entry, failure) })
		}
		return tool.Failed(CodeSubagentFailed, "The subagent could not do the task."), nil
	case out == nil || strings.TrimSpace(out.Text) == "":
		out = &subagent.Outcome{Text: "(the subagent returned no text)", Failed: out != nil && out.Failed}
	}
	if out.Failed {
		return tool.Failed(CodeSubagentFailed, out.Text), nil
	}
	return tool.Text(out.Text), nil
}

// serve has a runtime do the task.
func (c *child) serve(ctx context.Context, r subagent.Runtime, task string, progress func(string)) (*subagent.Outcome, error) {
	session, err := r.Create(context.WithValue(ctx, childKey{}, c), subagent.Spec{
		Thread: c.parent.thread.id, Turn: c.turn, CallID: c.call, Own: c.thread.id, Workspace: c.thread.workspace, Profile: c.profile,
	})
	if err != nil {
		return nil, err
	}
	if session == nil {
		return nil, errNoSession
	}
	lasting, told := context.WithoutCancel(ctx), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		if err := session.Cancel(lasting); err != nil && !errors.Is(err, contrib.ErrRevoked) {
			c.thread.kernel.log.Warn("a subagent could not be told to stop", "thread", c.thread.id, "error", err)
		}
	})
	defer func() {
		if !stop() {
			<-told
		}
		if err := session.Close(lasting); err != nil {
			c.thread.kernel.log.Warn("a subagent did not close cleanly", "thread", c.thread.id, "error", err)
		}
	}()
	if own, ok := session.(ownSession); ok {
		return own.Run(ctx, subagent.Input{Text: task}, nil)
	}
	return c.runGuest(ctx, session, task, func(e subagent.Event) error {
		progress(e.Text)
		return ctx.Err()
	})
}

// showProgress is the built-in middleware subagent-progress: what a subagent says is progress of the call that started it.
func showProgress(_ context.Context, next model.Client, i model.PipelineInfo) (model.Client, error) {
	if i.Kind != model.Subagent {
		return next, nil
	}
	return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
		th, ok := ctx.Value(turnKey{}).(*Thread)
		if !ok || th.child == nil {
			return next.Round(ctx, r, emit)
		}
		return next.Round(ctx, r, func(d model.Delta) error {
			if d.Kind == model.TextDelta {
				th.child.progress(d.Text)
			}
			return emit(d)
		})
	}), nil
}
