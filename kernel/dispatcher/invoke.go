package dispatcher

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/tool"
)

// errOverdue is the cause of the context of an invocation whose time has passed.
var errOverdue = errors.New("dispatcher: the time of the call has passed")

// invoke runs the tool and waits for it as long as it may take, serving whoever wakes it meanwhile.
func (p *Prepared) invoke(ctx context.Context, wake <-chan struct{}, serve func()) tool.Result {
	i := &p.running
	i.p, i.ctx.parent = p, ctx
	defer i.end()
	if p.tool.Binding.Inline {
		return p.ending(ctx, i.run())
	}
	i.done = make(chan answer, 1)
	go i.deliver()

	var overdue <-chan time.Time
	limit := p.tool.Binding.Timeout
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		overdue = timer.C
	}
	for waiting := true; waiting; {
		select {
		case a := <-i.done:
			return p.ending(ctx, a)
		case <-wake:
			if !i.serve(serve) {
				return cancelled()
			}
		case <-overdue:
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	if ctx.Err() == nil {
		select {
		case a := <-i.done: // it came at the same moment
			return p.ending(ctx, a)
		default:
		}
		i.ctx.stop(errOverdue)
		return p.timeout()
	}
	timer := time.NewTimer(p.grace())
	defer timer.Stop()
	select {
	case a := <-i.done:
		return p.ending(ctx, a)
	case <-timer.C:
		p.d.logger.Warn("a cancelled tool was left behind", "tool", p.tool.Canonical, "call", p.request.ID)
		return cancelled()
	}
}

// serve calls f. When f panics, the tool is stopped and waited for, and the panic is kept for the end of the call.
func (i *invocation) serve(f func()) (ok bool) {
	defer func() {
		if ok {
			return
		}
		i.p.raise = recover()
		i.ctx.stop(context.Canceled)
		timer := time.NewTimer(i.p.grace())
		defer timer.Stop()
		select {
		case <-i.done:
		case <-timer.C:
		}
	}()
	f()
	return true
}

// grace is how long the tool may take to return a result of its own after a cancellation.
func (p *Prepared) grace() time.Duration {
	if g := p.tool.Binding.Grace; g > 0 {
		return g
	}
	return grace
}

func stack() string { return string(debug.Stack()) }

// ending judges what the runtime came to.
func (p *Prepared) ending(ctx context.Context, a answer) tool.Result {
	if a.err == nil {
		return p.own(a.result)
	}
	var unservedErr *tool.UnservedError
	switch {
	case ctx.Err() != nil:
		return cancelled()
	case errors.As(a.err, &unservedErr):
		return unserved(unservedErr.Reason)
	case errors.Is(a.err, contrib.ErrRevoked), errors.Is(a.err, generations.ErrStopping):
		return unserved(tool.ReasonRevoked)
	case errors.Is(a.err, context.DeadlineExceeded):
		return p.timeout()
	}
	if !a.panicked {
		p.d.logger.Error("a tool failed", "tool", p.tool.Canonical, "call", p.request.ID, "error", a.err)
	}
	return failed(tool.CodeExecutionFailed, tool.TextExecutionFailed, nil)
}

func (p *Prepared) timeout() tool.Result {
	limit := p.tool.Binding.Timeout.String()
	return failed(tool.CodeTimeout, "The tool did not finish in time.", map[string]any{"timeout": limit})
}

// own takes over what a runtime returned: only what the host says about a result is the host's.
func (p *Prepared) own(r tool.Result) tool.Result {
	if !r.Failed && r.Content == nil && r.Structured == nil && r.Error == nil && r.Meta == nil {
		return invalidResult("missing")
	}
	if p.tool.Definition.Key.Kind == tool.OwnerModule {
		r = r.Copy()
	}
	r.Spill, r.Coercions = "", nil
	if r.Error != nil {
		e := *r.Error
		e.FromTool = true
		r.Error = &e
	}
	return r
}
