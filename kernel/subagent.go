package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
)

// child is what makes a thread that of a subagent. It lives as long as the call that started it, and has no log of its own
// on disk: what its parent's log has to know is stored there, marked with the child's id.
type child struct {
	thread  *Thread
	parent  *turn
	turn    string // id of the parent's turn
	call    string // id of the call that started it
	profile subagent.Profile
	view    *contrib.View // that the parent's turn pinned

	delivering sync.Mutex // held while events of calls are passed on
}

// agent is the profile of a subagent; blank for the main agent.
func (t *Thread) agent() string {
	if t.child == nil {
		return ""
	}
	return t.child.profile.Name
}

func (t *Thread) kind() model.PipelineKind {
	if t.child == nil {
		return model.Agent
	}
	return model.Subagent
}

// tools are the canonical names of the tools that the thread may have; nil: all.
func (t *Thread) tools() []string {
	if t.child == nil {
		return nil
	}
	return t.child.profile.Tools
}

// startedBy is the id of the call that started the subagent, and so the parent of the calls of its model.
func (t *Thread) startedBy() string {
	if t.child == nil {
		return ""
	}
	return t.child.call
}

// role is what a subagent is told about its part.
func (t *Thread) role() string {
	if t.child == nil {
		return ""
	}
	return t.child.profile.Prompt
}

// newChild makes the thread of a subagent and tells the observers of threads.
func (k *Kernel) newChild(ctx context.Context, parent *turn, call string, p subagent.Profile) (*child, error) {
	th := parent.thread
	log, err := threadlog.Memory().Create(ctx, threadlog.Header{Workspace: th.workspace, Mode: parent.mode, Version: k.config.Version})
	if err != nil {
		return nil, fmt.Errorf("kernel: make the thread of a subagent: %w", err)
	}
	t, err := k.adopt(log, Options{Workspace: th.workspace, Mode: parent.mode, Model: or(p.Model, parent.ref), Gear: parent.gear})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	c := &child{thread: t, parent: parent, turn: parent.id, call: call, profile: p, view: parent.view}
	t.child = c
	t.turn.calls.Agent = p.Name
	t.turn.calls.Approval = th.Approval
	if err := k.observe(ctx, t.id, func(ctx context.Context, o thread.Observer) error { return o.Started(ctx, c.info()) }); err != nil {
		return nil, errors.Join(err, c.end())
	}
	return c, nil
}

func (c *child) info() thread.Info {
	return thread.Info{
		ID: c.thread.id, Workspace: c.thread.workspace, Mode: c.thread.mode, Parent: c.parent.thread.id, Agent: c.profile.Name,
	}
}

// end takes the thread away again: observers and sources of tools are told, and what was contributed to it is released.
func (c *child) end() error {
	t, k := c.thread, c.thread.kernel
	ctx := context.Background() // it goes, whatever has become of the turn
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	_ = k.observe(ctx, t.id, func(ctx context.Context, o thread.Observer) error { return o.Deleting(ctx, c.info()) })
	id := contrib.ThreadID(t.id)
	toolset.ReleaseThread(ctx, tool.Sources.Entries(k.registry.View(), id), t.id)
	_, err := k.registry.ReleaseThread(id)
	if k.approval != nil {
		k.approval.EndSession(t.id)
	}
	k.live.Close(t.id)
	k.mu.Lock()
	delete(k.threads, t.id)
	k.mu.Unlock()
	if home := k.config.Home; home != "" {
		err = errors.Join(err, os.RemoveAll(filepath.Join(home, "spill", t.id)))
	}
	return errors.Join(err, t.log.Close())
}

// append stores a record of the turn. What a subagent does is stored in the log of its parent first.
func (t *turn) append(r threadlog.Record) error {
	if c := t.thread.child; c != nil {
		if err := c.store(r); err != nil {
			return err
		}
		// In its own thread a call of its model has no parent.
		switch r := r.(type) {
		case *threadlog.Call:
			r.ParentCallID = unless(r.ParentCallID, c.call)
		case *threadlog.Result:
			r.ParentCallID = unless(r.ParentCallID, c.call)
		}
	}
	return t.thread.log.Append(r)
}

func unless(id, other string) string {
	if id == other {
		return ""
	}
	return id
}

// store appends the parent's copy of a record of the subagent.
func (c *child) store(r threadlog.Record) error {
	parent := c.parent.thread.log
	switch r := r.(type) {
	case *threadlog.Round:
		own := *r
		own.Stamp, own.Turn, own.Agent, own.Items = threadlog.Stamp{}, c.turn, c.thread.id, make([]*model.Item, len(r.Items))
		for i, it := range r.Items {
			own.Items[i] = foreign(it)
		}
		return parent.Append(&own)
	case *threadlog.Call:
		own := *r
		own.Stamp, own.Turn, own.Agent = threadlog.Stamp{}, c.turn, c.thread.id
		return parent.Append(&own)
	case *threadlog.Result:
		own := *r
		own.Stamp, own.Turn, own.Agent, own.Item = threadlog.Stamp{}, c.turn, c.thread.id, foreign(r.Item)
		own.OutputPath = "" // the file goes with the subagent
		return parent.Append(&own)
	}
	return nil
}

// foreign is an item for the log of another thread: with an id of that log, and without images, whose numbers are the
// thread's own.
func foreign(it *model.Item) *model.Item {
	own := *it
	own.ID, own.Images = "", nil
	own.Text = threadlog.PlainMarkers(it.Text)
	own.Segments = slices.Clone(it.Segments)
	return &own
}

// pass hands an event of the subagent on to the turn that started it. What belongs to the life of the subagent's own turn
// stays with it. Any goroutine.
func (c *child) pass(e Event) {
	name := c.profile.Name
	switch e := e.(type) {
	case CallPending:
		e.Agent = name
		c.parent.side.post(e)
	case ApprovalAsked:
		e.Agent = name
		c.parent.side.post(e)
	case ApprovalAnswered:
		e.Agent = name
		c.parent.side.post(e)
	case CallStarted:
		e.Agent = name
		c.parent.side.post(e)
	case CallProgress:
		e.Agent = name
		c.parent.side.post(e)
	case CallEnded:
		e.Agent = name
		c.parent.side.post(e)
	case Noted:
		e.Agent = name
		c.parent.side.post(e)
	}
}

// progress tells about the call that started the subagent.
func (c *child) progress(text string) { c.parent.side.post(CallProgress{CallID: c.call, Text: text}) }

// run runs the subagent as a turn of the kernel: the same pipeline, hooks, policy and records as for any turn.
func (c *child) run(ctx context.Context, task string) (Result, error) {
	r, err := c.thread.Run(ctx, Input{Text: task, Limits: c.parent.limits}, c.pass)
	if err == nil {
		c.parent.addResult(&r)
	}
	return r, err
}

// prepareCalls gets the thread ready for a session that thinks for itself and calls tools.
func (c *child) prepareCalls(ctx context.Context, task string) error {
	t := c.thread.turn
	t.id, t.mode, t.ref, t.gear, t.limits = c.thread.nextTurn(), c.parent.mode, c.thread.model, c.parent.gear, c.parent.limits
	t.emit, t.view = c.pass, c.view
	if err := t.plan.prepareClient(ctx, t); err != nil {
		return err
	}
	if err := t.plan.prepareTools(ctx, t); err != nil {
		return err
	}
	t.calls.Begin(t.id, t.mode, t.plan.tools, t.plan.request.ImageInput, t.limits.ToolOutput)
	return c.thread.log.Append(&threadlog.Turn{
		Turn: t.id, Mode: t.mode, Item: &model.Item{Kind: model.Message, Role: model.User, Text: task},
	})
}

// dispatch takes a call of such a session through dispatch. Any goroutine.
func (c *child) dispatch(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	t := c.thread.turn
	id := model.NewCallID()
	c.pass(CallPending{CallID: id, ParentID: c.call, Name: name, Arguments: string(arguments)})
	var o dispatcher.Outcome
	if t.takeBudget() {
		o = t.kernel.dispatcher.Dispatch(ctx, &t.calls, dispatcher.Request{
			ID: id, ParentID: c.call, Name: name, Arguments: string(arguments), Audience: tool.AudienceModel, Depth: 1,
		})
	} else {
		o = t.refusedCall(&model.Item{CallID: id, Name: name, Arguments: string(arguments)}, tool.Error{
			Code: tool.CodeUnavailable, Message: "The tool calls of this turn are used up.",
			Params: map[string]any{"reason": tool.ReasonNotAvailable},
		}, model.Failure).outcome
	}
	t.subcallEnded(o)
	c.delivering.Lock()
	t.flush()
	c.delivering.Unlock()
	return o.Result.Copy(), nil
}
