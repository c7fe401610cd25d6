package ollama

import (
	"strings"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/points/model"
)

// madeHere begins the ids of calls to which the server gave none.
const madeHere = "ollama_"

// decoder reads the lines of one answer.
type decoder struct {
	s     rawjson.Scanner
	line  line
	calls int
	done  bool
	raw   string
}

// line is what one line says.
type line struct {
	text, thinking, reason string
	calls                  []call
	done                   bool
	usage                  model.Usage
	hasUsage               bool
	fault                  *wire.Fault
}

type call struct{ id, name, arguments string }

// Event reads one line, or a whole answer.
func (d *decoder) Event(_, data []byte, out *wire.Sink) (wire.Progress, error) {
	l, s := &d.line, &d.s
	*l = line{calls: l.calls[:0]}
	s.Reset(data)
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "message":
			d.message()
		case "done":
			l.done = s.Bool()
		case "done_reason":
			l.reason = s.Text()
		case "prompt_eval_count":
			l.usage.Input, l.hasUsage = s.Int()
		case "eval_count":
			n, ok := s.Int()
			l.usage.Output, l.hasUsage = n, l.hasUsage || ok
		case "error":
			l.fault = wire.ReadFault(s)
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
	l := &d.line
	if l.fault != nil {
		return wire.More, l.fault
	}
	out.Reasoning(0, model.SegmentText, l.thinking)
	out.Text(l.text)
	for _, c := range l.calls {
		if c.id == "" {
			c.id = madeHere + strings.TrimPrefix(model.NewCallID(), "call_")
		}
		out.Start(d.calls, c.id, c.name)
		out.Arguments(d.calls, c.arguments)
		out.End(d.calls)
		d.calls++
	}
	if l.hasUsage {
		l.usage.Total = l.usage.Input + l.usage.Output
		out.Usage(l.usage)
	}
	if !l.done {
		return wire.More, nil
	}
	if (l.reason == "load" || l.reason == "unload") && !out.Heard() {
		return wire.More, &wire.Fault{Code: l.reason, Message: "the server was loading the model and did not answer; try again"}
	}
	d.done, d.raw = true, l.reason
	return wire.Complete, nil
}

// Done does nothing: this protocol has no such mark.
func (d *decoder) Done(*wire.Sink) wire.Progress { return wire.More }

// Close ends the answer.
func (d *decoder) Close(out *wire.Sink) bool {
	if !d.done {
		return false
	}
	f := model.FinishOther
	switch d.raw {
	case "", "stop":
		f = model.FinishStop
	case "length":
		f = model.FinishLength
	}
	out.Finish(f, d.raw)
	return true
}

func (d *decoder) message() {
	s, l := &d.s, &d.line
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "content":
			l.text = s.Text()
		case "thinking":
			l.thinking = s.Text()
		case "tool_calls":
			for s.Array(); s.Next(); {
				d.call()
			}
		default:
			s.Skip()
		}
	}
}

func (d *decoder) call() {
	s := &d.s
	if s.Kind() != rawjson.Object {
		s.Skip()
		return
	}
	var c call
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "id":
			c.id = s.Text()
		case "function":
			for s.Object(); s.Next(); {
				switch string(s.Key()) {
				case "name":
					c.name = s.Text()
				case "arguments":
					if s.Kind() == rawjson.String {
						c.arguments = s.Text()
						continue
					}
					c.arguments = string(s.Raw())
					if c.arguments == "null" {
						c.arguments = ""
					}
				default:
					s.Skip()
				}
			}
		default:
			s.Skip()
		}
	}
	d.line.calls = append(d.line.calls, c)
}
