package wire

import (
	"strings"

	"github.com/crystalkernel/crystal/points/model"
)

// maxCandidate bounds the text of one answer.
const maxCandidate = 64 << 20

// Sink takes what a decoder reads, gives it on as deltas and assembles the candidate from the same deltas. It makes
// sure that every call has one start and one end and an id of its own. After the first error it drops everything; the
// round ends with that error.
type Sink struct {
	protocol, provider string

	emit  func(model.Delta) error
	asm   model.Assembler
	calls []openCall
	usage model.Usage
	told  bool // usage was reported
	size  int
	heard bool
	err   error // the first one

	refused error // err, if it is of emit
}

type openCall struct {
	index  int
	id     string
	spoken bool // arguments came
	ended  bool
}

// NewSink returns a sink of one answer, whose deltas go to emit. State is marked as that of protocol and provider.
func NewSink(protocol, provider string, emit func(model.Delta) error) *Sink {
	return &Sink{protocol: protocol, provider: provider, emit: emit}
}

// Err returns the first error: of emit, or of an answer that contradicts itself.
func (s *Sink) Err() error { return s.err }

// Response returns the candidate.
func (s *Sink) Response() (*model.Response, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.asm.Response()
}

func (s *Sink) add(d model.Delta) {
	if s.err != nil {
		return
	}
	s.size += len(d.Text) + len(d.Name)
	if s.size > maxCandidate {
		s.err = &InvalidError{Reason: "the answer is longer than 64 MiB", Final: true}
		return
	}
	if s.err = s.asm.Add(d); s.err != nil {
		return
	}
	if s.err = s.emit(d); s.err != nil {
		s.refused = s.err
	}
}

// Heard reports whether text or a call came.
func (s *Sink) Heard() bool { return s.heard }

// Text adds text of the reply.
func (s *Sink) Text(t string) {
	if t != "" {
		s.heard = true
		s.add(model.Delta{Kind: model.TextDelta, Text: t})
	}
}

// Reasoning adds text to the segment of that number and kind.
func (s *Sink) Reasoning(number int, kind model.SegmentKind, t string) {
	if t != "" {
		s.add(model.Delta{Kind: model.ReasoningDelta, Index: number, Segment: kind, Text: t})
	}
}

// Start opens the call at a position. A blank or repeated id is replaced by a new one.
func (s *Sink) Start(position int, id, name string) {
	s.heard = true
	for strings.TrimSpace(id) == "" || s.taken(id) {
		id = model.NewCallID()
	}
	s.calls = append(s.calls, openCall{index: position, id: id})
	s.add(model.Delta{Kind: model.CallStart, Index: position, ID: id, Name: name})
}

// Arguments adds to the arguments of an open call.
func (s *Sink) Arguments(position int, t string) {
	if c := s.call(position); c != nil && t != "" {
		c.spoken = true
		s.add(model.Delta{Kind: model.CallArguments, Index: position, ID: c.id, Text: t})
	}
}

// End ends an open call; a call that has ended is left alone.
func (s *Sink) End(position int) {
	if c := s.call(position); c != nil {
		s.end(c)
	}
}

func (s *Sink) end(c *openCall) {
	if c.ended {
		return
	}
	if !c.spoken {
		s.add(model.Delta{Kind: model.CallArguments, Index: c.index, ID: c.id, Text: "{}"})
	}
	c.ended = true
	s.add(model.Delta{Kind: model.CallEnd, Index: c.index, ID: c.id})
}

// State adds opaque state to the newest item of that kind; for a call, to the one at position, for reasoning, to the
// item that holds the segment of that number.
func (s *Sink) State(of model.Kind, position int, data []byte) {
	d := model.Delta{Kind: model.StateDelta, For: of, Index: position}
	if c := s.call(position); of == model.ToolCall && c != nil {
		d.ID = c.id
	}
	d.State = &model.State{Format: s.protocol, Provider: s.provider, Data: data}
	s.add(d)
}

// Usage notes the usage so far; the last one noted is given on with the finish.
func (s *Sink) Usage(u model.Usage) { s.usage, s.told = u, true }

// Finish ends all calls and the answer. A blank f follows from the calls.
func (s *Sink) Finish(f model.Finish, raw string) {
	for i := range s.calls {
		s.end(&s.calls[i])
	}
	if s.told {
		s.add(model.Delta{Kind: model.UsageDelta, Usage: s.usage})
	}
	switch {
	case len(s.calls) > 0 && (f == "" || f == model.FinishStop):
		f = model.FinishToolCalls
	case len(s.calls) == 0 && (f == "" || f == model.FinishToolCalls):
		f = model.FinishStop
	}
	s.add(model.Delta{Kind: model.FinishDelta, Finish: f, Raw: raw})
}

func (s *Sink) call(position int) *openCall {
	for i := len(s.calls) - 1; i >= 0; i-- {
		if s.calls[i].index == position {
			return &s.calls[i]
		}
	}
	return nil
}

func (s *Sink) taken(id string) bool {
	for i := range s.calls {
		if s.calls[i].id == id {
			return true
		}
	}
	return false
}
