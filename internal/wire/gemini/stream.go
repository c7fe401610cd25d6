package gemini

import (
	"strings"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/points/model"
)

// decoder reads the chunks of one answer.
type decoder struct {
	s     rawjson.Scanner
	chunk chunk
	usage []byte // the newest usageMetadata
	calls []call // held until the answer is known to be whole
	last  partKind
	// closed says that the last text or thought has its signature.
	closed  bool
	thought int // number of the segment of the thought that is open

	finish  string
	blocked string
	ended   bool
}

// partKind is the kind of the part that a signature on an empty part belongs to.
type partKind uint8

const (
	none partKind = iota
	textPart
	thoughtPart
	callPart
)

type call struct{ id, name, args, signature string }

// chunk is what one event says.
type chunk struct {
	parts      []part
	finish     string
	blocked    string
	candidates bool
	hasUsage   bool
	fault      *wire.Fault
}

type part struct {
	text, signature string
	thought         bool
	isCall          bool
	call            call
}

// Event reads one chunk.
func (d *decoder) Event(_, data []byte, out *wire.Sink) (wire.Progress, error) {
	c, s := &d.chunk, &d.s
	*c = chunk{parts: c.parts[:0]}
	s.Reset(data)
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "candidates":
			d.candidates()
		case "usageMetadata":
			if s.Kind() != rawjson.Object {
				s.Skip()
				continue
			}
			// Each chunk has it and the last one counts, so it is read once, at the end.
			c.hasUsage = true
			d.usage = append(d.usage[:0], s.Raw()...)
		case "promptFeedback":
			for s.Object(); s.Next(); {
				if string(s.Key()) == "blockReason" {
					c.blocked = s.Text()
					continue
				}
				s.Skip()
			}
		case "error":
			c.fault = wire.ReadFault(s)
		default:
			s.Skip()
		}
	}
	if err := s.End(); err != nil {
		return wire.More, err
	}
	return d.apply(out)
}

func (d *decoder) apply(out *wire.Sink) (wire.Progress, error) {
	c := &d.chunk
	if c.fault != nil {
		return wire.More, c.fault
	}
	if d.ended {
		if c.hasUsage {
			return wire.Complete, nil
		}
		return wire.Trailing, nil
	}
	for i := range c.parts {
		d.part(&c.parts[i], out)
	}
	switch {
	case c.finish != "":
		d.finish, d.ended = c.finish, true
	case c.blocked != "" && !c.candidates:
		d.blocked, d.ended = c.blocked, true
	default:
		return wire.More, nil
	}
	if c.hasUsage {
		return wire.Complete, nil
	}
	return wire.Trailing, nil
}

// part gives text and thoughts on and holds calls.
func (d *decoder) part(p *part, out *wire.Sink) {
	switch {
	case p.isCall:
		d.endThought(out)
		p.call.signature = p.signature
		d.calls = append(d.calls, p.call)
		d.last, d.closed = callPart, p.signature != ""
		return
	case p.text == "":
		d.sign(p.signature, out)
		return
	case p.thought:
		if d.last != thoughtPart || d.closed {
			d.thought++
		}
		d.last, d.closed = thoughtPart, false
		out.Reasoning(d.thought, model.SegmentText, p.text)
	default:
		d.endThought(out)
		d.last, d.closed = textPart, false
		out.Text(p.text)
	}
	d.sign(p.signature, out)
}

// sign puts a signature on the part before, unless it has one.
func (d *decoder) sign(signature string, out *wire.Sink) {
	if signature == "" || d.closed {
		return
	}
	switch d.last {
	case none:
		return
	case textPart:
		out.State(model.Message, 0, []byte(signature))
	case thoughtPart:
		out.State(model.Reasoning, d.thought, []byte(signature))
	case callPart:
		d.calls[len(d.calls)-1].signature = signature
	}
	d.closed = true
}

// endThought marks a thought that got no signature as this protocol's own.
func (d *decoder) endThought(out *wire.Sink) {
	if d.last == thoughtPart {
		d.sign(wire.Unsigned, out)
	}
}

// Done does nothing: this protocol has no such mark.
func (d *decoder) Done(*wire.Sink) wire.Progress {
	if d.ended {
		return wire.Complete
	}
	return wire.More
}

// Close releases the calls of an answer that ended as it should.
func (d *decoder) Close(out *wire.Sink) bool {
	if !d.ended {
		return false
	}
	d.endThought(out)
	if len(d.usage) > 0 {
		out.Usage(d.readUsage())
	}
	f, raw := finish(d.finish), d.finish
	if d.blocked != "" {
		f, raw = model.FinishContentFilter, d.blocked
	}
	if f == "" || f == model.FinishStop {
		for i := range d.calls {
			d.release(i, out)
		}
	}
	out.Finish(f, raw)
	return true
}

func (d *decoder) release(position int, out *wire.Sink) {
	c := &d.calls[position]
	if c.id == "" {
		c.id = madeHere + strings.TrimPrefix(model.NewCallID(), "call_")
	}
	out.Start(position, c.id, c.name)
	out.Arguments(position, c.args)
	if c.signature != "" {
		out.State(model.ToolCall, position, []byte(c.signature))
	}
	out.End(position)
}

func finish(word string) model.Finish {
	switch word {
	case "", "STOP":
		return model.FinishStop
	case "MAX_TOKENS":
		return model.FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE":
		return model.FinishContentFilter
	}
	return model.FinishOther
}

// candidates reads the candidate of index 0; the index may come after what it belongs to.
func (d *decoder) candidates() {
	s, c := &d.s, &d.chunk
	for s.Array(); s.Next(); {
		c.candidates = true
		parts, finish, index := len(c.parts), c.finish, 0
		for s.Object(); s.Next(); {
			switch string(s.Key()) {
			case "index":
				index, _ = s.Int()
			case "finishReason":
				c.finish = s.Text()
			case "content":
				for s.Object(); s.Next(); {
					if string(s.Key()) == "parts" {
						for s.Array(); s.Next(); {
							d.read()
						}
						continue
					}
					s.Skip()
				}
			default:
				s.Skip()
			}
		}
		if index != 0 {
			c.parts, c.finish = c.parts[:parts], finish
		}
	}
}

func (d *decoder) read() {
	s := &d.s
	var p part
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "text":
			p.text = s.Text()
		case "thought":
			p.thought = s.Bool()
		case "thoughtSignature", "thought_signature":
			p.signature = s.Text()
		case "functionCall":
			p.isCall = s.Kind() == rawjson.Object
			for s.Object(); s.Next(); {
				switch string(s.Key()) {
				case "id":
					p.call.id = s.Text()
				case "name":
					p.call.name = s.Text()
				case "args":
					if s.Kind() == rawjson.Null {
						s.Skip()
						continue
					}
					p.call.args = string(s.Raw())
				default:
					s.Skip()
				}
			}
		default:
			s.Skip()
		}
	}
	d.chunk.parts = append(d.chunk.parts, p)
}

func (d *decoder) readUsage() (u model.Usage) {
	s := &d.s
	s.Reset(d.usage)
	for s.Object(); s.Next(); {
		var to *int
		switch string(s.Key()) {
		case "promptTokenCount", "toolUsePromptTokenCount":
			to = &u.Input
		case "candidatesTokenCount":
			to = &u.Output
		case "thoughtsTokenCount":
			to = &u.Reasoning
		case "cachedContentTokenCount":
			to = &u.CacheRead
		case "totalTokenCount":
			to = &u.Total
		default:
			s.Skip()
			continue
		}
		n, _ := s.Int()
		*to += n
	}
	u.Output += u.Reasoning
	return u
}
