package responses

import (
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/points/model"
)

// decoder reads the events of one answer.
type decoder struct {
	s     rawjson.Scanner
	e     event
	items []*output
	calls int

	numbers [2]int // of the newest segment of each kind, from 1
	segment place  // where the newest segment came from

	usage   *model.Usage
	refused bool
	ended   bool
	finish  model.Finish
	raw     string
}

// place is where a segment of reasoning comes from.
type place struct {
	output, part int
	summary      bool
}

// event is what one event says. The slices are parts of its data.
type event struct {
	kind         string
	delta        string
	itemID       string
	index, part  int
	item, answer []byte
	arguments    string
	hasArguments bool
	fault        wire.Fault
	nested       *wire.Fault
}

// Event reads one event, or a whole answer.
func (d *decoder) Event(name, data []byte, out *wire.Sink) (wire.Progress, error) {
	e, s := &d.e, &d.s
	*e = event{index: -1}
	whole := false
	s.Reset(data)
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "type":
			e.kind = known(s.Bytes())
		case "delta":
			e.delta = s.Text()
		case "item_id":
			e.itemID = d.intern(s.Bytes())
		case "output_index":
			e.index, _ = s.Int()
		case "summary_index", "content_index":
			e.part, _ = s.Int()
		case "item":
			e.item = s.Raw()
		case "response":
			e.answer = s.Raw()
		case "arguments":
			e.hasArguments = s.Kind() == rawjson.String
			e.arguments = s.Text()
		case "output":
			whole = s.Kind() == rawjson.Array
			s.Skip()
		case "code":
			e.fault.Code = s.Text()
		case "message":
			e.fault.Message = s.Text()
		case "error":
			e.nested = wire.ReadFault(s)
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
	if e.kind == "" && whole {
		return d.answer(data, out)
	}
	return d.apply(out)
}

func (d *decoder) apply(out *wire.Sink) (wire.Progress, error) {
	e := &d.e
	switch e.kind {
	case "response.output_text.delta":
		d.item(e.itemID, e.index).spoken = true
		out.Text(e.delta)
	case "response.refusal.delta":
		d.item(e.itemID, e.index).spoken = true
		d.refused = true
		out.Text(e.delta)
	case "response.reasoning_summary_text.delta":
		d.reasoning(d.item(e.itemID, e.index), true, e.part, e.delta, out)
	case "response.reasoning_text.delta":
		d.reasoning(d.item(e.itemID, e.index), false, e.part, e.delta, out)
	case "response.output_item.added":
		d.added(e.item, e.index, out)
	case "response.function_call_arguments.delta":
		i := d.item(e.itemID, e.index)
		i.arguments = append(i.arguments, e.delta...)
	case "response.function_call_arguments.done":
		if i := d.item(e.itemID, e.index); e.hasArguments && !i.done {
			i.arguments = append(i.arguments[:0], e.arguments...)
		}
	case "response.output_item.done":
		d.done(e.item, e.index, out)
	case "response.completed", "response.incomplete", "response.failed":
		return d.answer(e.answer, out)
	case "error":
		if e.nested != nil {
			return wire.More, e.nested
		}
		fault := e.fault
		return wire.More, &fault
	default:
		if e.nested != nil {
			return wire.More, e.nested
		}
	}
	return wire.More, nil
}

// answer reads the final answer object.
func (d *decoder) answer(data []byte, out *wire.Sink) (wire.Progress, error) {
	s := &d.s
	s.Reset(data)
	var status, reason string
	var fault *wire.Fault
	var items [][]byte
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "status":
			status = s.Text()
		case "incomplete_details":
			for s.Object(); s.Next(); {
				if string(s.Key()) == "reason" {
					reason = s.Text()
					continue
				}
				s.Skip()
			}
		case "error":
			fault = wire.ReadFault(s)
		case "usage":
			d.readUsage()
		case "output":
			for s.Array(); s.Next(); {
				items = append(items, s.Raw())
			}
		default:
			s.Skip()
		}
	}
	kind := d.e.kind
	if kind == "response.failed" || status == "failed" || fault != nil {
		if fault == nil {
			fault = &wire.Fault{Message: "the provider failed to answer"}
		}
		return wire.More, fault
	}
	for index, item := range items {
		d.done(item, index, out)
	}
	d.ended, d.raw = true, status
	if kind == "response.incomplete" || status == "incomplete" {
		d.raw = reason
		switch reason {
		case "max_output_tokens":
			d.finish = model.FinishLength
		case "content_filter":
			d.finish = model.FinishContentFilter
		default:
			d.finish = model.FinishOther
		}
	}
	if d.usage != nil {
		out.Usage(*d.usage)
	}
	return wire.Complete, nil
}

// Done does nothing: this protocol has no such mark.
func (d *decoder) Done(*wire.Sink) wire.Progress { return wire.More }

// Close ends what is open and the answer.
func (d *decoder) Close(out *wire.Sink) bool {
	if !d.ended {
		return false
	}
	if d.refused {
		d.finish = model.FinishContentFilter
	}
	for _, i := range d.items {
		if i.call && !i.done && d.finish == "" {
			d.endCall(i, out)
		}
	}
	out.Finish(d.finish, d.raw)
	return true
}

func (d *decoder) readUsage() {
	s := &d.s
	if s.Kind() != rawjson.Object {
		s.Skip()
		return
	}
	var u model.Usage
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "input_tokens":
			u.Input, _ = s.Int()
		case "output_tokens":
			u.Output, _ = s.Int()
		case "total_tokens":
			u.Total, _ = s.Int()
		case "input_tokens_details":
			u.CacheRead = d.member("cached_tokens")
		case "output_tokens_details":
			u.Reasoning = d.member("reasoning_tokens")
		default:
			s.Skip()
		}
	}
	d.usage = &u
}

// member reads one number of an object.
func (d *decoder) member(name string) (n int) {
	s := &d.s
	for s.Object(); s.Next(); {
		if string(s.Key()) == name {
			n, _ = s.Int()
			continue
		}
		s.Skip()
	}
	return n
}

// known returns a word without allocating for those that come often.
func known(word []byte) string {
	switch string(word) {
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "response.function_call_arguments.delta":
		return "response.function_call_arguments.delta"
	case "response.reasoning_summary_text.delta":
		return "response.reasoning_summary_text.delta"
	case "response.reasoning_text.delta":
		return "response.reasoning_text.delta"
	}
	return string(word)
}
