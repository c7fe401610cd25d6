package openai

import (
	"strings"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/points/model"
)

// decoder reads the chunks of one answer.
type decoder struct {
	s      rawjson.Scanner
	calls  calls
	chunk  chunk
	before said

	refused  bool
	finished bool
	raw      string
	ended    bool // by the end mark alone
}

// chunk is what one event says. Nothing of it is given on before the event was read to its end.
type chunk struct {
	text, refusal               string
	reasoningContent, reasoning string
	finish                      string
	fragments                   []fragment
	usage                       model.Usage
	hasUsage                    bool
	fault                       *wire.Fault
}

// Event reads one chunk, or a whole answer, whose message stands in the place of the delta.
func (d *decoder) Event(_, data []byte, out *wire.Sink) (wire.Progress, error) {
	c := &d.chunk
	*c = chunk{fragments: c.fragments[:0]}
	s := &d.s
	s.Reset(data)
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "choices":
			d.choices()
		case "usage":
			d.usage()
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

// apply gives on what a chunk says.
func (d *decoder) apply(out *wire.Sink) (wire.Progress, error) {
	c := &d.chunk
	if c.fault != nil {
		return wire.More, c.fault
	}
	if c.hasUsage {
		out.Usage(c.usage)
	}
	if d.finished {
		return wire.Trailing, nil
	}
	reasoning := c.reasoningContent
	if strings.TrimSpace(reasoning) == "" && c.reasoning != "" {
		reasoning = c.reasoning
	}
	if reasoning != "" || c.text != "" || c.refusal != "" {
		d.calls.settle(out)
	}
	out.Reasoning(0, model.SegmentText, reasoning)
	out.Text(c.text)
	if c.refusal != "" {
		d.refused = true
		out.Text(c.refusal)
	}
	for i := range c.fragments {
		if err := d.calls.add(&c.fragments[i], out); err != nil {
			return wire.More, err
		}
	}
	switch c.finish {
	case "":
		return wire.More, nil
	case "insufficient_system_resource":
		return wire.More, &wire.Fault{Code: c.finish, Message: "the provider ran out of resources inside the answer"}
	}
	d.finished, d.raw = true, c.finish
	return wire.Trailing, nil
}

// Done ends an answer that has a reason, or said something at all.
func (d *decoder) Done(out *wire.Sink) wire.Progress {
	if d.finished || out.Heard() || len(d.calls.list) > 0 {
		d.ended = true
		return wire.Complete
	}
	return wire.More
}

// Close gives on the calls that were held back and the finish.
func (d *decoder) Close(out *wire.Sink) bool {
	if !d.finished && !d.ended {
		return false
	}
	f := finish(d.raw)
	if d.refused {
		f = model.FinishContentFilter
	}
	if f != model.FinishLength && f != model.FinishContentFilter {
		d.calls.finish(out)
	}
	out.Finish(f, d.raw)
	return true
}

func finish(word string) model.Finish {
	switch word {
	case "":
		return ""
	case "stop":
		return model.FinishStop
	case "tool_calls", "function_call":
		return model.FinishToolCalls
	case "length":
		return model.FinishLength
	case "content_filter":
		return model.FinishContentFilter
	}
	return model.FinishOther
}

// said is what the choices of a chunk said so far.
type said struct {
	text, refusal, reasoningContent, reasoning, finish string
	fragments                                          int
}

func (s *said) keep(c *chunk) {
	*s = said{c.text, c.refusal, c.reasoningContent, c.reasoning, c.finish, len(c.fragments)}
}

func (s *said) restore(c *chunk) {
	c.text, c.refusal, c.reasoningContent, c.reasoning, c.finish = s.text, s.refusal, s.reasoningContent, s.reasoning, s.finish
	c.fragments = c.fragments[:s.fragments]
}

// choices reads the choice of index 0; the index may come after what it belongs to.
func (d *decoder) choices() {
	s := &d.s
	for s.Array(); s.Next(); {
		index := 0
		d.before.keep(&d.chunk)
		for s.Object(); s.Next(); {
			switch string(s.Key()) {
			case "index":
				index, _ = s.Int()
			case "delta", "message":
				d.delta()
			case "finish_reason":
				d.chunk.finish = intern(s.Bytes())
			case "usage":
				d.usage()
			default:
				s.Skip()
			}
		}
		if index != 0 {
			d.before.restore(&d.chunk)
		}
	}
}

// intern returns a word without allocating for those that are usual.
func intern(word []byte) string {
	switch string(word) {
	case "stop":
		return "stop"
	case "tool_calls":
		return "tool_calls"
	}
	return string(word)
}

func (d *decoder) delta() {
	s, c := &d.s, &d.chunk
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "content":
			if s.Kind() == rawjson.Array {
				c.text += d.parts()
				continue
			}
			c.text += s.Text()
		case "reasoning_content":
			c.reasoningContent = s.Text()
		case "reasoning":
			c.reasoning = s.Text()
		case "refusal":
			c.refusal = s.Text()
		case "tool_calls":
			for s.Array(); s.Next(); {
				d.fragment()
			}
		case "function_call":
			if s.Kind() == rawjson.Object {
				f := fragment{indexed: true}
				d.function(&f)
				c.fragments = append(c.fragments, f)
				continue
			}
			s.Skip()
		default:
			s.Skip()
		}
	}
}

// parts reads content that is a list of parts.
func (d *decoder) parts() (text string) {
	s := &d.s
	for s.Array(); s.Next(); {
		for s.Object(); s.Next(); {
			if string(s.Key()) == "text" {
				text += s.Text()
				continue
			}
			s.Skip()
		}
	}
	return text
}

func (d *decoder) fragment() {
	s := &d.s
	if s.Kind() != rawjson.Object {
		s.Skip()
		return
	}
	var f fragment
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "index":
			f.index, f.indexed = s.Int()
		case "id":
			f.id = s.Text()
		case "function":
			d.function(&f)
		default:
			s.Skip()
		}
	}
	d.chunk.fragments = append(d.chunk.fragments, f)
}

func (d *decoder) function(f *fragment) {
	s := &d.s
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "name":
			f.name = s.Text()
		case "arguments":
			if s.Kind() == rawjson.Object {
				f.arguments, f.object = string(s.Raw()), true
				if len(f.arguments) == 2 {
					f.arguments, f.object = "", false // says nothing, and fragments may follow
				}
				continue
			}
			f.arguments = s.Text()
		default:
			s.Skip()
		}
	}
}

func (d *decoder) usage() {
	s := &d.s
	if s.Kind() != rawjson.Object {
		s.Skip()
		return
	}
	var u model.Usage
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "prompt_tokens":
			u.Input, _ = s.Int()
		case "completion_tokens":
			u.Output, _ = s.Int()
		case "total_tokens":
			u.Total, _ = s.Int()
		case "prompt_cache_hit_tokens":
			u.CacheRead, _ = s.Int()
		case "prompt_tokens_details":
			if n, ok := d.member("cached_tokens"); ok {
				u.CacheRead = n
			}
		case "completion_tokens_details":
			u.Reasoning, _ = d.member("reasoning_tokens")
		default:
			s.Skip()
		}
	}
	d.chunk.usage, d.chunk.hasUsage = u, true
}

// member reads one number of an object.
func (d *decoder) member(name string) (n int, ok bool) {
	s := &d.s
	for s.Object(); s.Next(); {
		if string(s.Key()) == name {
			n, ok = s.Int()
			continue
		}
		s.Skip()
	}
	return n, ok
}
