package responses

import (
	"bytes"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/points/model"
)

// output is one item of the answer's output. What is said of it may come before it is added, or only with the end.
type output struct {
	id        string
	index     int
	spoken    bool // text of it was given on
	call      bool
	started   bool
	done      bool
	position  int
	callID    string
	name      string
	arguments []byte
	number    int // of its newest segment of reasoning; 0: none
}

// item returns the item with that id or, if either side has none, that index; one that is new is made.
func (d *decoder) item(id string, index int) *output {
	for k := len(d.items) - 1; k >= 0; k-- {
		i := d.items[k]
		if id != "" && i.id == id || (id == "" || i.id == "") && index >= 0 && i.index == index {
			return i
		}
	}
	i := &output{id: id, index: index}
	d.items = append(d.items, i)
	return i
}

// intern returns the id as it is known already, so that naming it in every event costs nothing.
func (d *decoder) intern(id []byte) string {
	for k := len(d.items) - 1; k >= 0; k-- {
		if d.items[k].id == string(id) {
			return d.items[k].id
		}
	}
	return string(id)
}

// reasoning gives text of a segment on. Segments of the answer are numbered, each kind for itself.
func (d *decoder) reasoning(i *output, summary bool, part int, text string, out *wire.Sink) {
	kind, k := model.SegmentText, 0
	if summary {
		kind, k = model.SegmentSummary, 1
	}
	if at := (place{i.index, part, summary}); d.numbers[k] == 0 || at != d.segment {
		d.segment = at
		d.numbers[k]++
	}
	i.number = d.numbers[k]
	i.spoken = i.spoken || text != ""
	out.Reasoning(i.number-1, kind, text)
}

// content is what an item says of itself.
type content struct {
	kind, id, callID, name, arguments string
	hasArguments, encrypted, refused  bool
	texts, summaries                  []string
}

func (d *decoder) read(item []byte) content {
	var c content
	s := &d.s
	s.Reset(item)
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "type":
			c.kind = s.Text()
		case "id":
			c.id = s.Text()
		case "call_id":
			c.callID = s.Text()
		case "name":
			c.name = s.Text()
		case "arguments":
			c.hasArguments = s.Kind() == rawjson.String
			c.arguments = s.Text()
		case "encrypted_content":
			c.encrypted = len(s.Bytes()) > 0
		case "content":
			c.texts = d.texts(&c)
		case "summary":
			c.summaries = d.texts(&c)
		default:
			s.Skip()
		}
	}
	return c
}

func (d *decoder) texts(c *content) (texts []string) {
	s := &d.s
	for s.Array(); s.Next(); {
		for s.Object(); s.Next(); {
			switch string(s.Key()) {
			case "text":
				texts = append(texts, s.Text())
			case "refusal":
				texts = append(texts, s.Text())
				c.refused = true
			default:
				s.Skip()
			}
		}
	}
	return texts
}

func (d *decoder) added(raw []byte, index int, out *wire.Sink) {
	c := d.read(raw)
	i := d.item(c.id, index)
	i.index = index
	if c.kind != "function_call" {
		return
	}
	d.take(i, &c)
	if len(i.arguments) == 0 {
		i.arguments = append(i.arguments, c.arguments...)
	}
	if i.callID != "" && i.name != "" {
		d.startCall(i, out)
	}
}

// take fills in what an item says of the call that it is.
func (d *decoder) take(i *output, c *content) {
	i.call = true
	if c.callID != "" {
		i.callID = c.callID
	}
	if c.name != "" {
		i.name = c.name
	}
}

func (d *decoder) startCall(i *output, out *wire.Sink) {
	if i.started {
		return
	}
	i.started = true
	i.position = d.calls
	d.calls++
	out.Start(i.position, i.callID, i.name)
}

// endCall gives the arguments on. They wait for the end, because what the end says of them wins.
func (d *decoder) endCall(i *output, out *wire.Sink) {
	d.startCall(i, out)
	i.done = true
	if len(bytes.TrimSpace(i.arguments)) > 0 {
		out.Arguments(i.position, string(i.arguments))
	}
	out.End(i.position)
}

// done takes a whole item: of the event that ends it, or of the final answer.
func (d *decoder) done(raw []byte, index int, out *wire.Sink) {
	c := d.read(raw)
	i := d.item(c.id, index)
	if i.done {
		return
	}
	switch c.kind {
	case "function_call":
		d.take(i, &c)
		if c.hasArguments && (c.arguments != "" || len(i.arguments) == 0) {
			i.arguments = append(i.arguments[:0], c.arguments...)
		}
		d.endCall(i, out)
	case "message":
		if !i.spoken {
			for _, t := range c.texts {
				out.Text(t)
			}
		}
		d.refused = d.refused || c.refused
	case "reasoning":
		if !i.spoken {
			for k, t := range c.summaries {
				d.reasoning(i, true, k, t, out)
			}
			for k, t := range c.texts {
				d.reasoning(i, false, k, t, out)
			}
		}
		d.keep(i, &c, raw, out)
	}
	i.done = true
}

// keep stores the item for later requests, if the provider encrypted it.
func (d *decoder) keep(i *output, c *content, raw []byte, out *wire.Sink) {
	number := i.number - 1
	switch {
	case c.encrypted:
		out.State(model.Reasoning, number, bytes.Clone(raw))
	case i.number > 0:
		out.State(model.Reasoning, number, []byte(wire.Unsigned))
	}
}
