package kernel

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// maxParallel is how many calls run at the same time.
const maxParallel = 8

// group is the calls that run at the same time. The turn has one and uses it again and again.
type group struct {
	calls   []running
	started int           // calls that have not returned
	alone   bool          // one call runs, on the goroutine of the turn
	done    chan struct{} // room for every call
}

// running is one call of a group.
type running struct {
	prepared *dispatcher.Prepared // nil: outcome is there already
	outcome  dispatcher.Outcome
}

// reset forgets the calls before.
func (g *group) reset() {
	clear(g.calls)
	g.calls = g.calls[:0]
}

// wait returns when no call is running.
func (g *group) wait() {
	for ; g.started > 0; g.started-- {
		<-g.done
	}
}

// runCalls runs the calls among the items of a round in order; neighbours that only look at the workspace run at the same
// time. A blank stop reason means that another round follows.
func (t *turn) runCalls(ctx context.Context, items []*model.Item) (StopReason, error) {
	looped := false
	for _, c := range items {
		if c.Kind != model.ToolCall {
			continue
		}
		next, state := t.prepareCall(ctx, c)
		looped = looped || state == loopEnd
		parallel := next.prepared != nil && next.prepared.Parallel()
		if !parallel {
			if err := t.finishGroup(ctx); err != nil {
				return Failed, err
			}
		}
		t.group.calls = append(t.group.calls, next)
		if !parallel || len(t.group.calls) == maxParallel {
			if err := t.finishGroup(ctx); err != nil {
				return Failed, err
			}
		}
	}
	if err := t.finishGroup(ctx); err != nil {
		return Failed, err
	}
	if looped {
		return LoopDetected, nil
	}
	return "", nil
}

// prepareCall takes a call up to its start. Calls of a round are prepared one after another, in their order.
func (t *turn) prepareCall(ctx context.Context, c *model.Item) (running, loopState) {
	if t.listening() {
		t.send(CallPending{CallID: c.CallID, ParentID: t.thread.startedBy(), Name: c.Name, Arguments: c.Arguments})
	}
	if ctx.Err() != nil {
		return t.refusedCall(c, tool.Error{
			Code: tool.CodeInterrupted, Message: interruptedText, Params: map[string]any{"started": false},
		}, model.Interrupted), loopNone
	}
	state := t.loop.next(c.Name, c.Arguments)
	if state != loopNone {
		return t.refusedCall(c, tool.Error{
			Code: tool.CodeLoopDetected, Message: loopText, Params: map[string]any{"count": t.loop.count},
		}, model.Failure), state
	}
	return running{prepared: t.kernel.dispatcher.Prepare(ctx, &t.calls, dispatcher.Request{
		ID: c.CallID, ParentID: t.thread.startedBy(), Name: c.Name, Arguments: c.Arguments, Audience: tool.AudienceModel,
	})}, state
}

const interruptedText = "The call was interrupted before the tool had started. It was not run."

// refusedCall is a call that the turn itself does not let through to dispatch.
func (t *turn) refusedCall(c *model.Item, e tool.Error, status model.Status) running {
	form := dispatcher.Form{Name: c.Name, Arguments: c.Arguments}
	result := tool.Result{Failed: true, Error: &e}
	return running{outcome: dispatcher.Outcome{
		Call:   dispatcher.Call{ID: c.CallID, ParentID: t.thread.startedBy(), Requested: form, Effective: form},
		Result: result, Status: status, Text: dispatcher.ResultText(result),
	}}
}

// start starts what is ready to run. A single call runs on the turn's goroutine, which delivers events while its tool
// runs, and is over when start returns; several run beside each other.
func (g *group) start(ctx context.Context, t *turn) {
	if g.started == 1 {
		g.started, g.alone = 0, true
		defer func() { g.alone = false }()
		for i := range g.calls {
			if r := &g.calls[i]; r.prepared != nil {
				r.outcome = r.prepared.RunServing(ctx, t.side.wake, t.serve)
			}
		}
		return
	}
	for i := range g.calls {
		r := &g.calls[i]
		if r.prepared == nil || r.prepared.Inline() {
			continue
		}
		go func() {
			r.outcome = r.prepared.Run(ctx)
			g.done <- struct{}{}
		}()
	}
	for i := range g.calls { // those that only compute, while the others run
		if r := &g.calls[i]; r.prepared != nil && r.prepared.Inline() {
			r.outcome = r.prepared.Run(ctx)
			g.started--
		}
	}
}

// finishGroup runs the calls that were prepared at the same time, and commits their results in call order. Events that
// come meanwhile are delivered.
func (t *turn) finishGroup(ctx context.Context) error {
	g := &t.group
	for i := range g.calls {
		r := &g.calls[i]
		if r.prepared == nil {
			continue
		}
		if o, refused := r.prepared.Refused(); refused {
			r.outcome, r.prepared = o, nil
			continue
		}
		g.started++
	}
	g.start(ctx, t)
	defer func() {
		if g.started > 0 { // a listener panicked: what runs ends before the thread is given back
			t.cancel()
			g.wait()
		}
	}()
	for g.started > 0 {
		select {
		case <-g.done:
			g.started--
		case <-t.side.wake:
			t.flush()
		}
	}
	for i := range g.calls {
		r := &g.calls[i]
		if r.prepared != nil {
			r.outcome = r.prepared.Finish(ctx, r.outcome)
		}
		if err := t.commitResult(&r.outcome); err != nil {
			return err
		}
	}
	g.reset()
	return nil
}

func (t *turn) commitResult(o *dispatcher.Outcome) error {
	item, err := t.store(o)
	if err != nil {
		return fmt.Errorf("kernel: store the result of call %s: %w", o.ID, err)
	}
	t.thread.meter.Add(estimate.Item(item, t.sends()))
	if denied(o) {
		t.result.Denials++
	}
	if t.listening() {
		t.send(ended(o))
	}
	return nil
}
