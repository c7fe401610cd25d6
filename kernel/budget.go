package kernel

import "github.com/crystalkernel/crystal/points/model"

// spent is what the subagents of a turn have used up of its budget.
type spent struct {
	modelCalls, toolCalls, denials int
	usage                          model.Usage
}

// root is the turn whose budget is used: the turn itself, or for a subagent the one that started it.
func (t *turn) root() *turn {
	if c := t.thread.child; c != nil {
		return c.parent
	}
	return t
}

// roundFits reports whether the model may be asked once more.
func (t *turn) roundFits() bool {
	r := t.root()
	r.side.mu.Lock()
	defer r.side.mu.Unlock()
	return t.limits.ModelCalls < 0 || r.result.ModelCalls+r.spent.modelCalls < t.limits.ModelCalls
}

func (t *turn) countRound() {
	t.side.mu.Lock()
	t.result.ModelCalls++
	t.side.mu.Unlock()
	if r := t.root(); r != t {
		r.side.mu.Lock()
		r.spent.modelCalls++
		r.side.mu.Unlock()
	}
}

// callsFit reports whether n more tool calls may be made.
func (t *turn) callsFit(n int) bool {
	r := t.root()
	r.side.mu.Lock()
	defer r.side.mu.Unlock()
	return r.fits(n, t.limits.ToolCalls)
}

// fits is callsFit for a root, whose lock is held.
func (t *turn) fits(n, limit int) bool {
	switch {
	case limit == NoToolCalls:
		return n == 0
	case limit < 0:
		return true
	default:
		return t.result.ToolCalls+t.spent.toolCalls+n <= limit
	}
}

// countCalls takes calls of the model off the budget.
func (t *turn) countCalls(n int) {
	t.side.mu.Lock()
	t.result.ToolCalls += n
	t.side.mu.Unlock()
	if r := t.root(); r != t {
		r.side.mu.Lock()
		r.spent.toolCalls += n
		r.side.mu.Unlock()
	}
}

// takeBudget takes one subcall off the budget. Any goroutine.
func (t *turn) takeBudget() bool {
	r := t.root()
	r.side.mu.Lock()
	if !r.fits(1, t.limits.ToolCalls) {
		r.side.mu.Unlock()
		return false
	}
	if r != t {
		r.spent.toolCalls++
		r.side.mu.Unlock()
		t.side.mu.Lock()
	}
	t.result.ToolCalls++
	t.side.mu.Unlock()
	return true
}

// addResult adds what a subagent came to beside its calls.
func (t *turn) addResult(r *Result) {
	t.side.mu.Lock()
	defer t.side.mu.Unlock()
	t.spent.denials += r.Denials
	t.spent.usage = added(t.spent.usage, r.Usage)
}

// addChildren makes what the subagents used a part of the result.
func (t *turn) addChildren() {
	t.side.mu.Lock()
	defer t.side.mu.Unlock()
	r, s := &t.result, &t.spent
	r.ModelCalls += s.modelCalls
	r.ToolCalls += s.toolCalls
	r.Denials += s.denials
	r.Usage = added(r.Usage, s.usage)
	*s = spent{}
}

func (t *turn) forgetChildren() {
	t.side.mu.Lock()
	t.spent = spent{}
	t.side.mu.Unlock()
}
