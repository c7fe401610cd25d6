package kernel

import (
	"fmt"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// beforeStart stores that a tool is about to run: after a crash it is known that it may have. Any goroutine.
func (t *turn) beforeStart(c dispatcher.Call) error {
	started := &struct { // one piece of memory for both
		record   threadlog.Call
		decision threadlog.Decision
	}{}
	rec := &started.record
	*rec = threadlog.Call{
		Turn: t.id, CallID: c.ID, ParentCallID: c.ParentID,
		Effective: threadlog.Effective{Name: c.Effective.Name, Arguments: c.Effective.Arguments},
		Risk:      c.Classification.Risk.String(), Authority: c.Classification.Authority.String(), Summary: c.Classification.Summary,
	}
	if c.Definition != nil {
		rec.Tool = t.keyOf(c.Definition)
	}
	if v := &c.Verdict; v.By != "" {
		started.decision = threadlog.Decision{By: v.By, Scope: v.Scope, Rationale: v.Rationale}
		rec.Decision = &started.decision
	}
	if err := t.append(rec); err != nil {
		return fmt.Errorf("kernel: store the start of call %s: %w", c.ID, err)
	}
	if t.listening() {
		e := CallStarted{
			CallID: c.ID, ParentID: c.ParentID, Name: c.Effective.Name, Summary: c.Classification.Summary, By: c.Verdict.By,
		}
		if c.ParentID == t.thread.startedBy() && t.group.alone {
			t.send(e) // such a call runs on the goroutine of the turn
		} else {
			t.side.post(e)
		}
	}
	return nil
}

// keyOf is the text form of a tool's key, which is made once for each tool of a plan. Any goroutine.
func (t *turn) keyOf(d *tool.Definition) string {
	t.side.mu.Lock()
	defer t.side.mu.Unlock()
	key, ok := t.keys[d]
	if !ok {
		if t.keys == nil || t.keyed != t.plan.tools {
			t.keys, t.keyed = map[*tool.Definition]string{}, t.plan.tools
		}
		key = d.Key.String()
		t.keys[d] = key
	}
	return key
}

// subcallEnded stores the result of a call that a tool made. Any goroutine.
func (t *turn) subcallEnded(o dispatcher.Outcome) {
	if denied(&o) {
		t.side.mu.Lock()
		t.result.Denials++
		t.side.mu.Unlock()
	}
	if _, err := t.store(&o); err != nil {
		t.kernel.log.Error("the result of a subcall was not stored", "thread", t.thread.id, "call", o.ID, "error", err)
	}
	if t.listening() {
		t.side.post(ended(&o))
	}
}

// store appends the result of a call to the log.
func (t *turn) store(o *dispatcher.Outcome) (*model.Item, error) {
	accepted := &struct { // one piece of memory for both
		record threadlog.Result
		item   model.Item
	}{}
	accepted.item = model.Item{Kind: model.ToolResult, CallID: o.ID, Text: o.Text, Status: o.Status}
	rec := &accepted.record
	*rec = threadlog.Result{
		Turn: t.id, CallID: o.ID, ParentCallID: o.ParentID, DurationMs: o.Duration.Milliseconds(), OutputPath: o.Result.Spill,
		Item: &accepted.item,
	}
	if o.Result.Error != nil {
		rec.Code = o.Result.Error.Code
	}
	if err := t.addImages(rec.Item, o.Result.Content); err != nil {
		return nil, err
	}
	return rec.Item, t.append(rec)
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

// denied reports whether the outcome counts as a denial: somebody said no, or nobody was there to be asked. The built-in
// tool that asks the operator says so itself. A reviewer's no does not count.
func denied(o *dispatcher.Outcome) bool {
	if o.Status == model.Denied {
		return o.Verdict.By != approval.ByReviewer
	}
	e := o.Result.Error
	return e != nil && e.Code == tool.CodeApprovalRejected && o.Executed && o.Definition != nil &&
		o.Definition.Key.Kind == tool.OwnerBuiltin
}
