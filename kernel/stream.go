package kernel

import (
	"sync"
	"sync/atomic"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/trace"
)

// listening reports whether anybody is there to take an event. Events that nobody takes are not made.
func (t *turn) listening() bool {
	return t.emit != nil || len(trace.Sinks.In(t.kernel.registry.View(), "")) > 0
}

// send delivers an event, after those that waited. Only the goroutine of the turn calls it, or anybody for a subagent.
func (t *turn) send(e Event) {
	if pass := t.side.pass; pass != nil {
		pass(e)
		return
	}
	t.flush()
	t.deliver(e)
}

func (t *turn) deliver(e Event) {
	if t.emit != nil {
		t.emitted = true
		t.emit(e)
		t.emitted = false
	}
	t.kernel.trace(t, e)
}

// flush delivers the events that other goroutines left.
func (t *turn) flush() {
	for {
		events := t.side.take()
		if len(events) == 0 {
			return
		}
		for _, e := range events {
			t.deliver(e)
		}
		t.side.giveBack(events)
	}
}

// sideEvents takes events from goroutines other than the turn's, until that delivers them. post never waits.
type sideEvents struct {
	wake chan struct{} // holds a token while something waits
	pass func(Event)   // of a subagent: takes events at once, from any goroutine

	some     atomic.Bool // something waits; it saves the lock
	mu       sync.Mutex
	waiting  []Event
	spare    []Event // memory for waiting
	progress int     // how many of waiting are CallProgress
}

// maxProgress bounds what a tool that reports without end can pile up; the newest reports are dropped.
const maxProgress = 256

func (s *sideEvents) post(e Event) {
	if s.pass != nil {
		s.pass(e)
		return
	}
	s.mu.Lock()
	if _, ok := e.(CallProgress); ok {
		if s.progress == maxProgress {
			s.mu.Unlock()
			return
		}
		s.progress++
	}
	s.waiting = append(s.waiting, e)
	s.some.Store(true)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns what waits. giveBack returns the slice.
func (s *sideEvents) take() []Event {
	if !s.some.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.some.Store(false)
	events := s.waiting
	s.waiting, s.spare, s.progress = s.spare, nil, 0
	return events
}

func (s *sideEvents) giveBack(events []Event) {
	clear(events)
	s.mu.Lock()
	s.spare = events[:0]
	s.mu.Unlock()
}

// reportFailure handles the failure of an entry: every one goes to the log, the first of its kind in this turn to the operator.
// Safe for any goroutine.
func (t *turn) reportFailure(e *contrib.EntryInfo, c *contrib.CallError) {
	t.kernel.log.Warn("contribution failed", "thread", t.thread.id, "turn", t.id, "point", c.Point,
		"origin", e.Origin.String(), "label", e.Label, "cause", string(c.Cause), "rule", c.Rule)
	if !t.once.first(e, c) {
		return
	}
	n := callFailed(e, c)
	t.kernel.registry.Record(contrib.Diagnostic{
		Code: n.Code, Severity: n.Severity, Point: n.Point, EntryID: e.ID, Origin: e.Origin, Message: n.Message, Params: n.Params,
	})
	t.side.post(n)
}

// diagnose passes a diagnostic of planning or dispatch on to the operator. Safe for any goroutine.
func (t *turn) diagnose(d contrib.Diagnostic) {
	if t.explain != nil {
		t.explain.diagnostics = append(t.explain.diagnostics, d)
		return
	}
	t.kernel.registry.Record(d)
	n := Noted{Code: d.Code, Severity: d.Severity, Point: d.Point, Message: d.Message, Params: d.Params}
	if d.Origin.Kind() == "plugin" {
		n.Plugin = d.Origin.ID()
	}
	t.side.post(n)
}

// attempt collects what an attempt of a round brings.
type attempt struct {
	text, reasoning []byte
	retries         int
}

func (a *attempt) reset() { a.text, a.reasoning = a.text[:0], a.reasoning[:0] }

// onDelta handles one delta of the model's stream. Clients call it on the goroutine of the turn.
func (t *turn) onDelta(d model.Delta) error {
	switch d.Kind {
	case model.TextDelta:
		t.attempt.text = append(t.attempt.text, d.Text...)
		if t.listening() {
			t.send(TextDelta{Text: d.Text})
		}
	case model.ReasoningDelta:
		t.attempt.reasoning = append(t.attempt.reasoning, d.Text...)
		if t.listening() {
			t.send(ReasoningDelta{Text: d.Text, Segment: d.Index, Summary: d.Segment == model.SegmentSummary})
		}
	case model.CallStart:
		if t.listening() {
			t.send(CallDelta{CallID: d.ID, Start: true, Name: d.Name})
		}
	case model.CallArguments:
		if t.listening() {
			t.send(CallDelta{CallID: d.ID, Arguments: d.Text})
		}
	case model.CallEnd:
		if t.listening() {
			t.send(CallDelta{CallID: d.ID, End: true})
		}
	case model.NoteDelta:
		t.send(Noted{Code: d.Name, Severity: contrib.Info, Message: d.Text})
	case model.RetryDelta:
		t.attempt.reset()
		t.attempt.retries = d.Attempt
		t.send(Retrying{Attempt: d.Attempt, Message: d.Text, Delay: d.Delay})
	}
	return nil
}
