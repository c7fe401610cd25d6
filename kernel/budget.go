package kernel

import "github.com/crystalkernel/crystal/points/model"

// spent is what the subagents of a turn have used up of its budget.
type spent struct {
	modelCalls, toolCalls, denials int
	usage                          model.Usage
}

// charge runs f with the turn whose budget is used, and its lock held: the turn itself, or for a subagent the one that
// started it. Any goroutine.
func (t *turn) charge(f func(payer *turn)) {
	if c := t.thread.child; c != nil && c.with(func() { c.parent.charge(f) }) {
		return
	}
	t.side.mu.Lock()
	defer t.side.mu.Unlock()
	f(t)
}

// count books what was used: on the turn itself, and on the one that pays for it.
func (t *turn) count(payer *turn, modelCalls, toolCalls int) {
	if payer != t {
		payer.spent.modelCalls += modelCalls
		payer.spent.toolCalls += toolCalls
		t.side.mu.Lock()
		defer t.side.mu.Unlock()
	}
	t.result.ModelCalls += modelCalls
	t.result.ToolCalls += toolCalls
}

// takeRound takes one request to the model off the budget; false: there is none left.
func (t *turn) takeRound() (ok bool) {
	limit := t.limits.ModelCalls
	t.charge(func(payer *turn) {
		if ok = limit < 0 || payer.result.ModelCalls+payer.spent.modelCalls < limit; ok {
			t.count(payer, 1, 0)
		}
	})
	return ok
}

// repeatRound counts a request that is sent again, whatever is left.
func (t *turn) repeatRound() {
	t.charge(func(payer *turn) { t.count(payer, 1, 0) })
}

// takeCalls takes n tool calls off the budget; false: so many are not left, and none is taken. Any goroutine.
func (t *turn) takeCalls(n int) (ok bool) {
	limit := t.limits.ToolCalls
	t.charge(func(payer *turn) {
		switch {
		case limit == NoToolCalls:
			ok = n == 0
		case limit < 0:
			ok = true
		default:
			ok = payer.result.ToolCalls+payer.spent.toolCalls+n <= limit
		}
		if ok {
			t.count(payer, 0, n)
		}
	})
	return ok
}

func (t *turn) takeCall() bool { return t.takeCalls(1) }

// addResult adds what a subagent came to beside its rounds and calls. Any goroutine.
func (t *turn) addResult(r *Result) {
	t.side.mu.Lock()
	defer t.side.mu.Unlock()
	t.spent.denials += r.Denials
	t.spent.usage = added(t.spent.usage, r.Usage)
}

// addSpent makes what the subagents used a part of the result.
func (t *turn) addSpent() {
	t.side.mu.Lock()
	defer t.side.mu.Unlock()
	r, s := &t.result, &t.spent
	r.ModelCalls += s.modelCalls
	r.ToolCalls += s.toolCalls
	r.Denials += s.denials
	r.Usage = added(r.Usage, s.usage)
	*s = spent{}
}

// forgetSubagents forgets those of the turn before.
func (t *turn) forgetSubagents() {
	t.side.mu.Lock()
	t.spent, t.claims = spent{}, nil
	t.side.mu.Unlock()
}
