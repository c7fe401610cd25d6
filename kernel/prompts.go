package kernel

import (
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/thread"
)

// prompts tells clients and observers of signals about the prompts of the approval stage.
type prompts struct{ kernel *Kernel }

var _ approval.Watch = prompts{}

// Asked is told that the operator is about to be asked.
func (p prompts) Asked(a approval.Prompt) {
	e := ApprovalAsked{
		CallID: a.Call.ID, ParentID: a.Call.ParentID, Tool: a.Tool, Owner: a.Owner, Class: a.Class, Summary: a.Summary,
		Reason: a.Reason, Rationale: a.Rationale, Storable: a.Storable, Covers: a.Covers,
	}
	for _, arg := range a.Arguments {
		e.Arguments = append(e.Arguments, Argument(arg))
	}
	p.tell(&a, e, thread.ApprovalRequested)
}

// Answered is told that the prompt is over.
func (p prompts) Answered(a approval.Prompt, v dispatch.Verdict, err error) {
	e := ApprovalAnswered{CallID: a.Call.ID, ParentID: a.Call.ParentID, Allowed: err == nil && v.Allow, By: v.By, Scope: v.Scope}
	p.tell(&a, e, thread.ApprovalResolved)
}

// tell finds the running turn of the call. A call of the model is approved on the goroutine of its turn, and one of a tool
// on that of the tool.
func (p prompts) tell(a *approval.Prompt, e Event, kind thread.SignalKind) {
	p.kernel.mu.Lock()
	th := p.kernel.threads[a.Call.Thread]
	p.kernel.mu.Unlock()
	if th == nil {
		return
	}
	if a.Call.ParentID == th.startedBy() {
		th.turn.send(e)
	} else {
		th.turn.side.post(e)
	}
	p.kernel.signal(kind, th, a.Call.Turn, a.Call.ID)
}
