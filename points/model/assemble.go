package model

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Errors of an [Assembler]: the deltas of a client break the contract of [Client].
var (
	ErrSecondFinish = errors.New("model: a second finish")
	ErrNoFinish     = errors.New("model: no finish")
	ErrUnknownCall  = errors.New("model: a delta of a call that is not open")
	ErrLateDelta    = errors.New("model: a delta after the finish")
)

// Assembler turns deltas into a candidate. The zero value is ready. It is not safe for use by several goroutines.
//
// It applies the rules that hold for every protocol: neighbouring text is one message and neighbouring reasoning one
// item, until state closes it; blank arguments become {}; a blank or repeated call id becomes a new one; the calls of an
// answer that was cut short are dropped; and a finish of stop or tool_calls follows from whether there are calls. A
// [RetryDelta] forgets all that came before it.
type Assembler struct {
	items    []*Item
	open     []byte    // text of the last message that is not yet in it
	segments []segment // of the last reasoning item
	calls    []call
	usage    *Usage
	finish   Finish
	raw      string
	finished bool
}

type segment struct {
	number int
	kind   SegmentKind
	text   []byte
}

type call struct {
	index     int
	item      *Item
	arguments []byte
	ended     bool
}

// Add takes one delta. A second finish, a call without a start or a delta after the finish (other than usage) is an
// error.
func (a *Assembler) Add(d Delta) error {
	switch d.Kind {
	case UsageDelta:
		u := d.Usage
		a.usage = &u
		return nil
	case NoteDelta:
		return nil
	case RetryDelta:
		*a = Assembler{}
		return nil
	case FinishDelta:
		if a.finished {
			return ErrSecondFinish
		}
		a.finish, a.raw, a.finished = d.Finish, d.Raw, true
		return nil
	}
	if a.finished {
		return ErrLateDelta
	}
	switch d.Kind {
	case TextDelta:
		a.text(d.Text)
	case ReasoningDelta:
		a.reasoning(d)
	case CallStart:
		return a.start(d)
	case CallArguments, CallEnd:
		c := a.call(d.Index)
		if c == nil || c.ended {
			return fmt.Errorf("%w: position %d", ErrUnknownCall, d.Index)
		}
		c.ended = d.Kind == CallEnd
		c.arguments = append(c.arguments, d.Text...)
	case StateDelta:
		return a.state(d)
	}
	return nil
}

// Response returns the candidate: items in the order in which they first appeared, usage, finish. Without a finish it
// is an error.
func (a *Assembler) Response() (*Response, error) {
	if !a.finished {
		return nil, ErrNoFinish
	}
	a.close()
	r := &Response{Finish: a.finish, Raw: a.raw, Usage: a.usage}
	if cutShort(a.finish) {
		for _, i := range a.items {
			if i.Kind != ToolCall {
				r.Items = append(r.Items, i)
			}
		}
		return r, nil
	}
	for i := range a.calls {
		c := &a.calls[i]
		c.item.Arguments = string(c.arguments)
		if strings.TrimSpace(c.item.Arguments) == "" {
			c.item.Arguments = "{}"
		}
	}
	r.Items = a.items
	switch {
	case len(a.calls) > 0 && (a.finish == "" || a.finish == FinishStop):
		r.Finish = FinishToolCalls
	case len(a.calls) == 0 && (a.finish == "" || a.finish == FinishToolCalls):
		r.Finish = FinishStop
	}
	return r, nil
}

// cutShort reports whether the calls of an answer with this finish may be incomplete, so that none may run.
func cutShort(f Finish) bool {
	return f == FinishLength || f == FinishContentFilter || f == FinishContextOverflow
}

func (a *Assembler) last(k Kind) *Item {
	if n := len(a.items); n > 0 && a.items[n-1].Kind == k && a.items[n-1].State == nil {
		return a.items[n-1]
	}
	return nil
}

func (a *Assembler) add(i *Item) {
	a.close()
	a.items = append(a.items, i)
}

// close moves the text that was gathered into the last item.
func (a *Assembler) close() {
	if len(a.items) == 0 {
		return
	}
	last := a.items[len(a.items)-1]
	if len(a.open) > 0 {
		last.Text += string(a.open)
		a.open = a.open[:0]
	}
	for _, s := range a.segments {
		last.Segments = append(last.Segments, Segment{Text: string(s.text), Kind: s.kind})
	}
	a.segments = nil
}

func (a *Assembler) text(t string) {
	if t == "" {
		return
	}
	if a.last(Message) == nil {
		a.add(&Item{Kind: Message, Role: Assistant})
	}
	a.open = append(a.open, t...)
}

func (a *Assembler) reasoning(d Delta) {
	if d.Text == "" {
		return
	}
	if a.last(Reasoning) == nil {
		a.add(&Item{Kind: Reasoning})
	}
	kind := d.Segment
	if kind == "" {
		kind = SegmentText
	}
	for i := len(a.segments) - 1; i >= 0; i-- {
		if s := &a.segments[i]; s.number == d.Index && s.kind == kind {
			s.text = append(s.text, d.Text...)
			return
		}
	}
	a.segments = append(a.segments, segment{number: d.Index, kind: kind, text: []byte(d.Text)})
}

func (a *Assembler) start(d Delta) error {
	if a.call(d.Index) != nil {
		return fmt.Errorf("%w: position %d is started twice", ErrUnknownCall, d.Index)
	}
	id := d.ID
	for strings.TrimSpace(id) == "" || a.taken(id) {
		id = NewCallID()
	}
	i := &Item{Kind: ToolCall, CallID: id, Name: d.Name}
	a.add(i)
	a.calls = append(a.calls, call{index: d.Index, item: i})
	return nil
}

func (a *Assembler) call(index int) *call {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if a.calls[i].index == index {
			return &a.calls[i]
		}
	}
	return nil
}

func (a *Assembler) taken(id string) bool {
	for i := range a.calls {
		if a.calls[i].item.CallID == id {
			return true
		}
	}
	return false
}

func (a *Assembler) state(d Delta) error {
	switch d.For {
	case ToolCall:
		c := a.call(d.Index)
		if c == nil {
			return fmt.Errorf("%w: state of position %d", ErrUnknownCall, d.Index)
		}
		c.item.State = d.State
	case Message:
		i := a.last(Message)
		if i == nil {
			i = &Item{Kind: Message, Role: Assistant}
			a.add(i)
		}
		i.State = d.State
	default:
		// Reasoning that a provider keeps to itself has state and no text: an item of its own.
		i := a.last(Reasoning)
		if i == nil || !a.has(d.Index) {
			i = &Item{Kind: Reasoning}
			a.add(i)
		}
		i.State = d.State
	}
	return nil
}

func (a *Assembler) has(number int) bool {
	for i := range a.segments {
		if a.segments[i].number == number {
			return true
		}
	}
	return false
}

// NewCallID returns a new id for a call whose id is blank or not its own: call_ and 32 hex digits.
func NewCallID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return "call_" + hex.EncodeToString(b[:])
}
