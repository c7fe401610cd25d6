package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
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
	beside  []string      // ids of the calls of the round that started it

	using sync.RWMutex // held for reading while the parent's turn is used
	apart bool         // that turn is over, or about to be
}

// with runs f while the parent's turn cannot end. It does not run f, and reports false, once that is over: what a subagent
// does that was left behind concerns nobody. Any goroutine.
func (c *child) with(f func()) bool {
	c.using.RLock()
	defer c.using.RUnlock()
	if c.apart {
		return false
	}
	f()
	return true
}

// part takes the subagent off its parent's turn.
func (c *child) part() {
	c.using.Lock()
	c.apart = true
	c.using.Unlock()
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
	c := &child{
		parent: parent, turn: parent.id, call: call, profile: p, view: parent.view, beside: lastCalls(th.log.Items()),
	}
	_, err = k.adopt(log, Options{Workspace: th.workspace, Mode: parent.mode, Model: or(p.Model, parent.ref), Gear: parent.gear}, c)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	parent.join(c)
	if err := k.observe(ctx, c.thread.id, func(ctx context.Context, o thread.Observer) error { return o.Started(ctx, c.info()) }); err != nil {
		return nil, errors.Join(err, c.end())
	}
	return c, nil
}

// lastCalls are the ids of the calls of the last round.
func lastCalls(items []*model.Item) (ids []string) {
	for _, it := range slices.Backward(items) {
		switch it.Kind {
		case model.ToolResult:
		case model.ToolCall:
			ids = append(ids, it.CallID)
		default:
			return ids
		}
	}
	return ids
}

func (c *child) info() thread.Info {
	return thread.Info{
		ID: c.thread.id, Workspace: c.thread.workspace, Mode: c.thread.mode, Parent: c.parent.thread.id, Agent: c.profile.Name,
	}
}

// run runs the subagent as a turn of the kernel: the same pipeline, hooks, policy and records as for any turn.
func (c *child) run(ctx context.Context, task string) (Result, error) {
	r, err := c.thread.Run(ctx, Input{Text: task, Limits: c.parent.limits}, c.pass)
	if err == nil {
		c.with(func() { c.parent.addResult(&r) })
	}
	return r, err
}

// end takes the thread away again: observers and sources of tools are told, and what was contributed to it is released.
func (c *child) end() error {
	t, k := c.thread, c.thread.kernel
	c.parent.leave(c)
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

// join and leave keep the subagents that a turn has running. Any goroutine.
func (t *turn) join(c *child) {
	t.side.mu.Lock()
	t.children = append(t.children, c)
	t.side.mu.Unlock()
}

func (t *turn) leave(c *child) {
	t.side.mu.Lock()
	t.children = slices.DeleteFunc(t.children, func(o *child) bool { return o == c })
	t.side.mu.Unlock()
}

// taken reports whether a call of a subagent has the id of another call that is told of at the same time: of the round that
// started it, or of another subagent of the turn.
func (t *turn) taken(id string) (taken bool) {
	c := t.thread.child
	if c == nil {
		return false
	}
	if id == c.call || slices.Contains(c.beside, id) {
		return true
	}
	c.with(func() { taken = !c.parent.claim(id, c) })
	return taken
}

func (t *turn) claim(id string, c *child) bool {
	t.side.mu.Lock()
	defer t.side.mu.Unlock()
	if t.claims == nil {
		t.claims = map[string]*child{}
	}
	if t.claims[id] == nil {
		t.claims[id] = c
	}
	return t.claims[id] == c
}

// settle makes what the subagents used a part of the result. One that was left behind has no part in the turn from here on.
func (t *turn) settle() {
	t.side.mu.Lock()
	behind := t.children
	t.children = nil
	t.side.mu.Unlock()
	for _, c := range behind {
		c.part()
	}
	t.addSpent()
}
