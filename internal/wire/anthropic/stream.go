package anthropic

import (
	"bytes"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/points/model"
)

// decoder reads the events of one answer.
type decoder struct {
	s      rawjson.Scanner
	e      event
	blocks []block
	calls  int
	spoken int // reasoning blocks so far

	input, cacheRead, cacheWrite, output int
	counted                              bool
	stop                                 string
	stopped                              bool
}

// block is a content block that is open.
type block struct {
	index     int
	kind      string
	number    int // position of a call, or number of a reasoning segment
	input     []byte
	streamed  bool // text of it, or arguments, came
	signature []byte
}

// event is what one event says.
type event struct {
	kind    string
	index   int
	content part // content_block, or delta
	stop    string
	parts   []part // of a whole message
	fault   *wire.Fault
}

// part is the content of a block, whole or in part.
type part struct {
	kind, text, thinking, signature, partial, id, name string
	input, raw                                         []byte
}

// Event reads one event, or a whole message.
func (d *decoder) Event(name, data []byte, out *wire.Sink) (wire.Progress, error) {
	e, s := &d.e, &d.s
	*e = event{parts: e.parts[:0]}
	s.Reset(data)
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "type":
			e.kind = known(s.Bytes())
		case "index":
			e.index, _ = s.Int()
		case "delta":
			d.part(&e.content)
		case "content_block":
			e.content.raw = s.Raw()
		case "message":
			d.message()
		case "content":
			for s.Array(); s.Next(); {
				e.parts = append(e.parts, part{raw: s.Raw()})
			}
		case "usage":
			d.usage()
		case "stop_reason":
			e.stop = s.Text()
		case "error":
			e.fault = wire.ReadFault(s)
		default:
			s.Skip()
		}
	}
	if err := s.End(); err != nil {
		return wire.More, err
	}
	if e.kind == "" {
		e.kind = known(name)
	}
	return d.apply(out)
}

func (d *decoder) apply(out *wire.Sink) (wire.Progress, error) {
	e := &d.e
	if e.fault != nil {
		return wire.More, e.fault
	}
	switch e.kind {
	case "content_block_start":
		d.start(e.index, e.content.raw, out)
	case "content_block_delta":
		return wire.More, d.delta(out)
	case "content_block_stop":
		if b := d.block(e.index); b != nil {
			d.end(b, out)
		}
	case "message_delta":
		if e.stop != "" {
			d.stop = e.stop
		}
	case "message_stop":
		d.stopped = true
		return wire.Complete, nil
	case "message":
		for i, p := range e.parts {
			d.start(i, p.raw, out)
			if b := d.block(i); b != nil {
				d.end(b, out)
			}
		}
		d.stop, d.stopped = e.stop, true
		return wire.Complete, nil
	}
	return wire.More, nil
}

// Done does nothing: this protocol has no such mark.
func (d *decoder) Done(*wire.Sink) wire.Progress { return wire.More }

// Close ends what is open and the answer.
func (d *decoder) Close(out *wire.Sink) bool {
	if !d.stopped && d.stop == "" {
		return false
	}
	for len(d.blocks) > 0 {
		d.end(&d.blocks[0], out)
	}
	if d.counted {
		input := d.input + d.cacheRead + d.cacheWrite
		out.Usage(model.Usage{
			Input: input, Output: d.output, CacheRead: d.cacheRead, CacheWrite: d.cacheWrite, Total: input + d.output,
		})
	}
	out.Finish(finish(d.stop), d.stop)
	return true
}

func finish(stop string) model.Finish {
	switch stop {
	case "":
		return ""
	case "end_turn", "stop_sequence":
		return model.FinishStop
	case "tool_use":
		return model.FinishToolCalls
	case "max_tokens":
		return model.FinishLength
	case "model_context_window_exceeded":
		return model.FinishContextOverflow
	case "refusal":
		return model.FinishContentFilter
	}
	return model.FinishOther
}

// start opens a block; text in it counts.
func (d *decoder) start(index int, raw []byte, out *wire.Sink) {
	p := part{}
	d.s.Reset(raw)
	d.part(&p)
	b := block{index: index, kind: p.kind}
	switch p.kind {
	case "text":
		out.Text(p.text)
	case "thinking":
		b.number = d.spoken
		d.spoken++
		b.signature = append(b.signature, p.signature...)
		b.streamed = p.thinking != ""
		out.Reasoning(b.number, model.SegmentText, p.thinking)
	case "redacted_thinking":
		out.State(model.Reasoning, d.spoken, bytes.Clone(raw))
		d.spoken++
	case "tool_use":
		b.number = d.calls
		d.calls++
		b.input = bytes.Clone(p.input)
		out.Start(b.number, p.id, p.name)
	}
	d.blocks = append(d.blocks, b)
}

func (d *decoder) delta(out *wire.Sink) error {
	p := &d.e.content
	b := d.block(d.e.index)
	if b == nil {
		switch p.kind {
		case "text_delta":
			d.start(d.e.index, []byte(`{"type":"text"}`), out)
		case "thinking_delta":
			d.start(d.e.index, []byte(`{"type":"thinking"}`), out)
		case "input_json_delta":
			return &wire.InvalidError{Reason: "arguments of a call that was not started"}
		default:
			return nil
		}
		b = d.block(d.e.index)
	}
	switch p.kind {
	case "text_delta":
		out.Text(p.text)
	case "thinking_delta":
		if b.kind == "thinking" {
			b.streamed = b.streamed || p.thinking != ""
			out.Reasoning(b.number, model.SegmentText, p.thinking)
		}
	case "signature_delta":
		b.signature = append(b.signature, p.signature...)
	case "input_json_delta":
		if b.kind == "tool_use" && p.partial != "" {
			b.streamed = true
			out.Arguments(b.number, p.partial)
		}
	}
	return nil
}

// end ends a block and forgets it.
func (d *decoder) end(b *block, out *wire.Sink) {
	switch b.kind {
	case "thinking":
		signature := b.signature
		if len(signature) == 0 && b.streamed {
			signature = []byte(wire.Unsigned)
		}
		if len(signature) > 0 {
			out.State(model.Reasoning, b.number, signature)
		}
	case "tool_use":
		if !b.streamed && len(b.input) > 2 { // more than {}
			out.Arguments(b.number, string(b.input))
		}
		out.End(b.number)
	}
	for i := range d.blocks {
		if &d.blocks[i] == b {
			d.blocks = append(d.blocks[:i], d.blocks[i+1:]...)
			return
		}
	}
}

func (d *decoder) block(index int) *block {
	for i := range d.blocks {
		if d.blocks[i].index == index {
			return &d.blocks[i]
		}
	}
	return nil
}

func (d *decoder) message() {
	s := &d.s
	for s.Object(); s.Next(); {
		if string(s.Key()) == "usage" {
			d.usage()
			continue
		}
		s.Skip()
	}
}

func (d *decoder) part(p *part) {
	s := &d.s
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "type":
			p.kind = known(s.Bytes())
		case "text":
			p.text = s.Text()
		case "thinking":
			p.thinking = s.Text()
		case "signature":
			p.signature = s.Text()
		case "partial_json":
			p.partial = s.Text()
		case "id":
			p.id = s.Text()
		case "name":
			p.name = s.Text()
		case "input":
			p.input = s.Raw()
		case "stop_reason":
			d.e.stop = s.Text()
		default:
			s.Skip()
		}
	}
}

// usage takes the counts that are there: each is cumulative and replaces the one before.
func (d *decoder) usage() {
	s := &d.s
	for s.Object(); s.Next(); {
		var count *int
		switch string(s.Key()) {
		case "input_tokens":
			count = &d.input
		case "output_tokens":
			count = &d.output
		case "cache_read_input_tokens":
			count = &d.cacheRead
		case "cache_creation_input_tokens":
			count = &d.cacheWrite
		default:
			s.Skip()
			continue
		}
		if n, ok := s.Int(); ok {
			*count = n
			d.counted = true
		}
	}
}

// known returns a word without allocating for those that come with every event.
func known(word []byte) string {
	switch string(word) {
	case "content_block_delta":
		return "content_block_delta"
	case "text_delta":
		return "text_delta"
	case "thinking_delta":
		return "thinking_delta"
	case "input_json_delta":
		return "input_json_delta"
	}
	return string(word)
}
