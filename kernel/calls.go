package kernel

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// maxParallel is how many calls run at the same time.
const maxParallel = 8

// takeBudget takes one subcall off the turn's budget. Any goroutine.
func (t *turn) takeBudget() bool {
	t.side.mu.Lock()
	defer t.side.mu.Unlock()
	if !t.budgetFits(1) {
		return false
	}
	t.result.ToolCalls++
	return true
}

// beforeStart stores that a tool is about to run: after a crash it is known that it may have. Any goroutine.
func (t *turn) beforeStart(c dispatcher.Call) error {
	rec := &threadlog.Call{
		Turn: t.id, CallID: c.ID, ParentCallID: c.ParentID,
		Effective: threadlog.Effective{Name: c.Effective.Name, Arguments: c.Effective.Arguments},
		Risk:      c.Classification.Risk.String(), Authority: c.Classification.Authority.String(), Summary: c.Classification.Summary,
	}
	if c.Definition != nil {
		rec.Tool = c.Definition.Key.String()
	}
	if v := &c.Verdict; v.By != "" {
		rec.Decision = &threadlog.Decision{By: v.By, Scope: v.Scope, Rationale: v.Rationale}
	}
	if err := t.thread.log.Append(rec); err != nil {
		return fmt.Errorf("kernel: store the start of call %s: %w", c.ID, err)
	}
	if t.listening() {
		t.side.post(CallStarted{
			CallID: c.ID, ParentID: c.ParentID, Name: c.Effective.Name, Summary: c.Classification.Summary, By: c.Verdict.By,
		})
	}
	return nil
}

// subcallEnded stores the result of a call that a tool made. Any goroutine.
func (t *turn) subcallEnded(o dispatcher.Outcome) {
	if _, err := t.store(&o); err != nil {
		t.kernel.log.Error("the result of a subcall was not stored", "thread", t.thread.id, "call", o.ID, "error", err)
	}
	if t.listening() {
		t.side.post(ended(&o))
	}
}

// store appends the result of a call to the log.
func (t *turn) store(o *dispatcher.Outcome) (*model.Item, error) {
	rec := &threadlog.Result{
		Turn: t.id, CallID: o.ID, ParentCallID: o.ParentID, DurationMs: o.Duration.Milliseconds(), OutputPath: o.Result.Spill,
		Item: &model.Item{Kind: model.ToolResult, CallID: o.ID, Text: o.Text, Status: o.Status},
	}
	if o.Result.Error != nil {
		rec.Code = o.Result.Error.Code
	}
	if err := t.addImages(rec.Item, o.Result.Content); err != nil {
		return nil, err
	}
	return rec.Item, t.thread.log.Append(rec)
}

// addImages stores the images of a result and gives each its place in the text: blocks keep their order.
func (t *turn) addImages(it *model.Item, blocks []tool.Block) error {
	found := false
	for _, b := range blocks {
		found = found || b.IsImage()
	}
	if !found {
		return nil
	}
	text := ""
	if it.Status != model.Success {
		text = it.Text
	}
	for _, b := range blocks {
		piece := b.Text
		if b.IsImage() {
			img, err := t.thread.log.AddImage(b.MediaType, b.Data)
			if err != nil {
				return fmt.Errorf("kernel: store an image of call %s: %w", it.CallID, err)
			}
			it.Images = append(it.Images, img)
			piece = threadlog.Marker(img.Number)
		} else if it.Status != model.Success {
			continue // the text of a failed result holds it already
		}
		if text != "" {
			text += "\n"
		}
		text += piece
	}
	it.Text = text
	return nil
}

// ended is the terminal event of a call.
func ended(o *dispatcher.Outcome) CallEnded {
	e := CallEnded{
		CallID: o.ID, ParentID: o.ParentID, Name: o.Effective.Name, Arguments: o.Effective.Arguments, Status: o.Status, Text: o.Text,
		Structured: o.Result.Structured, Error: o.Result.Error, By: o.Verdict.By, Executed: o.Executed, Denied: denied(o),
		OutputPath: o.Result.Spill, Duration: o.Duration,
	}
	if o.Rewritten {
		e.Original = &CallForm{Name: o.Requested.Name, Arguments: o.Requested.Arguments}
	}
	if o.Result.Error != nil {
		e.Code = o.Result.Error.Code
	}
	if o.Classification.Risk.Valid() {
		e.Risk, e.Authority = o.Classification.Risk.String(), o.Classification.Authority.String()
	}
	return e
}

// denied reports whether the outcome counts as a denial: somebody would have been asked and said no, or nobody was there.
func denied(o *dispatcher.Outcome) bool {
	if o.Status == model.Denied {
		return o.Verdict.By != approval.ByReviewer
	}
	return false
}

// runCalls runs the calls of a round in order; neighbours that only look at the workspace run at the same time. A blank
// stop reason means that another round follows.
func (t *turn) runCalls(ctx context.Context, calls []*model.Item) (StopReason, error) {
	t.side.mu.Lock()
	t.result.ToolCalls += len(calls)
	t.side.mu.Unlock()
	looped := false
	var group []*running
	for _, c := range calls {
		if t.listening() {
			t.send(CallPending{CallID: c.CallID, Name: c.Name, Arguments: c.Arguments})
		}
		var next *running
		switch state := t.loop.next(c.Name, c.Arguments); {
		case ctx.Err() != nil:
			next = refusedCall(c, tool.CodeCancelled, "The call was cancelled.", model.Cancelled)
		case state != loopNone:
			looped = looped || state == loopEnd
			next = refusedCall(c, tool.CodeLoopDetected, loopText, model.Failure)
		default:
			next = &running{prepared: t.kernel.dispatcher.Prepare(ctx, &t.calls, dispatcher.Request{
				ID: c.CallID, Name: c.Name, Arguments: c.Arguments, Audience: tool.AudienceModel,
			})}
		}
		if next.prepared == nil || !next.prepared.Parallel() {
			if err := t.finishGroup(ctx, group); err != nil {
				return Failed, err
			}
			group = group[:0]
			if err := t.finishGroup(ctx, []*running{next}); err != nil {
				return Failed, err
			}
			continue
		}
		if group = append(group, next); len(group) == maxParallel {
			if err := t.finishGroup(ctx, group); err != nil {
				return Failed, err
			}
			group = group[:0]
		}
	}
	if err := t.finishGroup(ctx, group); err != nil {
		return Failed, err
	}
	if looped {
		return LoopDetected, nil
	}
	return "", nil
}

// running is one call of a group.
type running struct {
	prepared *dispatcher.Prepared // nil: outcome is there already
	outcome  dispatcher.Outcome
}

// refusedCall is a call that the turn itself does not let through to dispatch.
func refusedCall(c *model.Item, code, message string, status model.Status) *running {
	form := dispatcher.Form{Name: c.Name, Arguments: c.Arguments}
	return &running{outcome: dispatcher.Outcome{
		Call:   dispatcher.Call{ID: c.CallID, Requested: form, Effective: form},
		Result: tool.Result{Failed: true, Error: &tool.Error{Code: code, Message: message}},
		Status: status, Text: "Error " + code + ": " + message,
	}}
}

// finishGroup runs prepared calls at the same time, and commits their results in call order. Events that come meanwhile
// are delivered.
func (t *turn) finishGroup(ctx context.Context, group []*running) error {
	started := 0
	done := make(chan struct{}, len(group))
	for _, r := range group {
		if r.prepared == nil {
			continue
		}
		if o, refused := r.prepared.Refused(); refused {
			r.outcome, r.prepared = o, nil
			continue
		}
		started++
		go func() {
			r.outcome = r.prepared.Run(ctx)
			done <- struct{}{}
		}()
	}
	for started > 0 {
		select {
		case <-done:
			started--
		case <-t.side.wake:
			t.flush()
		}
	}
	for _, r := range group {
		if r.prepared != nil {
			r.outcome = r.prepared.Finish(ctx, r.outcome)
		}
		if err := t.commitResult(&r.outcome); err != nil {
			return err
		}
	}
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
