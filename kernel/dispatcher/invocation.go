package dispatcher

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crystalkernel/crystal/points/tool"
)

// grace is how long a runtime may take to return a result of its own after a cancellation.
const grace = 2 * time.Second

// invocation is one running tool. The goroutine that runs it may outlive it: then everything that the tool was given
// refuses further use.
type invocation struct {
	p        *Prepared
	ctx      toolContext // its subcalls run under it
	subcalls atomic.Int64
	done     chan answer // of a tool on a goroutine of its own; room for one, so that a late answer blocks nobody

	mu    sync.Mutex
	ended bool
	use   sync.WaitGroup // what the tool has asked the host for and not got yet
}

// enter admits one use of the host by the tool, which ends with i.use.Done.
func (i *invocation) enter() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.ended {
		i.use.Add(1)
	}
	return !i.ended
}

// end refuses further use, cancels subcalls that are still running and waits for them: each has its result before this
// call has its own.
func (i *invocation) end() {
	i.mu.Lock()
	i.ended = true
	i.mu.Unlock()
	i.ctx.stop(context.Canceled)
	i.use.Wait()
}

// answer is what the runtime came to.
type answer struct {
	result   tool.Result
	err      error
	panicked bool
}

// deliver is the goroutine of a tool that has one of its own.
func (i *invocation) deliver() {
	var a answer
	defer func() { i.done <- a }() // even when the tool ends its goroutine
	a = i.run()
}

// run calls the tool.
func (i *invocation) run() (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{err: i.p.d.panicked(r), panicked: true}
		}
	}()
	a.result, a.err = i.p.tool.Binding.Runtime.Invoke(&i.ctx, i.input())
	return a
}

// input is what the tool is given: copies, and functions that end with the call.
func (i *invocation) input() tool.Invocation {
	p, t := i.p, i.p.turn
	in := tool.Invocation{
		Thread: t.Thread, Turn: t.Turn, CallID: p.request.ID, ParentID: p.request.ParentID, Tool: p.tool.Definition.Key,
		Arguments: bytes.Clone(p.stage.Arguments), Workspace: t.Workspace, Mode: t.Mode, Approval: p.stage.Approval,
		Images: t.Images, Approved: p.call.Classification, Call: i.call, Progress: i.progress,
	}
	if t.DataDirs != nil {
		in.Data = t.DataDirs(in.Tool)
	}
	return in
}

func (i *invocation) progress(text string) {
	if f := i.p.turn.Progress; f != nil && i.enter() {
		defer i.use.Done()
		f(i.p.request.ID, text)
	}
}

// call dispatches another tool for the running one.
func (i *invocation) call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	if !i.enter() {
		return tool.Result{}, tool.ErrEnded
	}
	defer i.use.Done()
	own, cancel := context.WithCancel(&i.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	p, t := i.p, i.p.turn
	r := Request{
		ID: p.request.ID + "/" + strconv.FormatInt(i.subcalls.Add(1), 10), ParentID: p.request.ID,
		Name: name, Arguments: string(arguments), Audience: p.request.Audience, Depth: p.request.Depth + 1,
	}
	var o Outcome
	if t.TakeBudget != nil && r.Depth <= maxDepth && !t.TakeBudget() {
		form := Form{r.Name, r.Arguments}
		spent := &Prepared{d: p.d, turn: t, request: r, call: Call{ID: r.ID, ParentID: r.ParentID, Requested: form, Effective: form}}
		o = spent.outcome(failed(tool.CodeUnavailable, "The tool calls of this turn are used up.",
			map[string]any{"reason": tool.ReasonNotAvailable}))
	} else {
		o = p.d.Dispatch(own, t, r)
	}
	if t.Result != nil {
		t.Result(o)
	}
	return o.Result.Copy(), nil
}
