package kernel

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/tool"
)

// guest is the run of a session that thinks for itself, and leaves its tool calls to the kernel.
type guest struct {
	child *child
	ctx   context.Context // of the run: its calls end with it

	mu   sync.Mutex
	over bool
	use  sync.WaitGroup // calls that have no result yet
}

// runGuest runs a session of a contributed runtime as the one turn of the subagent's thread.
func (c *child) runGuest(ctx context.Context, s subagent.Session, task string, emit func(subagent.Event) error) (*subagent.Outcome, error) {
	if err := c.thread.enter(ctx); err != nil {
		return nil, err
	}
	defer c.thread.leave()
	t := c.thread.turn
	ctx, cancel := context.WithCancel(context.WithValue(ctx, turnKey{}, c.thread))
	defer cancel()
	c.thread.interruptible(cancel)
	defer c.thread.interruptible(nil)
	if err := c.prepareGuest(ctx, task); err != nil {
		return nil, err
	}
	t.observeStart(ctx)
	g := &guest{child: c, ctx: ctx}
	t.result.Stop = Failed // unless it returns
	defer func() {
		cancel()
		g.end()
		c.with(func() { c.parent.addResult(&t.result) })
		t.observeEnd(ctx)
	}()
	out, err := s.Run(ctx, subagent.Input{Text: task, Call: g.call}, emit)
	switch {
	case ctx.Err() != nil:
		t.result.Stop = Interrupted
	case err == nil && (out == nil || !out.Failed):
		t.result.Stop = Completed
	}
	return out, err
}

// prepareGuest plans the tools that the session may call.
func (c *child) prepareGuest(ctx context.Context, task string) error {
	t, parent := c.thread.turn, c.parent
	t.id, t.mode, t.ref, t.gear, t.limits = c.thread.nextTurn(), parent.mode, parent.ref, parent.gear, parent.limits
	t.text, t.emit, t.view, t.plan.request = task, c.pass, c.view, parent.plan.request
	if err := t.plan.prepareTools(ctx, t); err != nil {
		return err
	}
	t.calls.Begin(t.id, t.mode, t.plan.tools, t.plan.request.ImageInput, t.limits.ToolOutput)
	return c.thread.log.Append(&threadlog.Turn{
		Turn: t.id, Mode: t.mode, Item: &model.Item{Kind: model.Message, Role: model.User, Text: task},
	})
}

// end refuses further calls, and waits for those that run: each has its result before the run has its own.
func (g *guest) end() {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	g.use.Wait()
}

// call takes a call of the session through dispatch. Any goroutine.
func (g *guest) call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	g.mu.Lock()
	over := g.over
	if !over {
		g.use.Add(1)
	}
	g.mu.Unlock()
	if over {
		return tool.Result{}, tool.ErrEnded
	}
	defer g.use.Done()
	own, cancel := context.WithCancel(g.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	c, t := g.child, g.child.thread.turn
	id := model.NewCallID()
	c.pass(CallPending{CallID: id, ParentID: c.call, Name: name, Arguments: string(arguments)})
	var o dispatcher.Outcome
	if t.takeCalls(1) {
		o = t.kernel.dispatcher.Dispatch(own, &t.calls, dispatcher.Request{
			ID: id, ParentID: c.call, Name: name, Arguments: string(arguments), Audience: tool.AudienceModel, Depth: 1,
		})
	} else {
		o = t.refusedCall(&model.Item{CallID: id, Name: name, Arguments: string(arguments)}, tool.Error{
			Code: tool.CodeUnavailable, Message: "The tool calls of this turn are used up.",
			Params: map[string]any{"reason": tool.ReasonNotAvailable},
		}, model.Failure).outcome
	}
	t.subcallEnded(o)
	return o.Result.Copy(), nil
}
