package openai

import (
	"github.com/crystalkernel/crystal/internal/wire"
)

// fragment is one element of tool_calls in a delta.
type fragment struct {
	index     int
	indexed   bool
	id        string
	name      string
	arguments string
	object    bool // the arguments came as an object
}

// call is a call in the making.
type call struct {
	index     int
	indexed   bool
	id        string
	name      string
	held      string // arguments that came before name or id
	heard     bool   // arguments came
	object    bool
	announced bool
}

// calls puts the fragments of calls together. Providers differ in whether they give an index, when the id and the name
// come, and whether an index is used again.
type calls struct{ list []*call }

var (
	errStray = &wire.InvalidError{Reason: "a fragment belongs to no call"}
	errMixed = &wire.InvalidError{Reason: "arguments came as an object and as fragments"}
)

// add takes one fragment.
func (c *calls) add(f *fragment, out *wire.Sink) error {
	k, err := c.find(f)
	if err != nil {
		return err
	}
	switch {
	case f.name == "" || f.name == k.name:
	case k.name == "":
		k.name = f.name
	case !k.heard:
		k.name += f.name
	}
	if f.arguments == "" {
		return nil
	}
	if k.heard && (f.object || k.object) {
		return errMixed
	}
	k.heard, k.object = true, f.object
	// A name may still grow until arguments come, so calls wait for their first ones, or for those of a later call.
	at := c.position(k)
	c.announce(out, at+1, false)
	if k.announced {
		out.Arguments(at, f.arguments)
	} else {
		k.held += f.arguments
	}
	return nil
}

// find returns the call that a fragment belongs to, which may be a new one.
func (c *calls) find(f *fragment) (*call, error) {
	if !f.indexed {
		return c.findByID(f)
	}
	k := c.newest(f.index)
	switch {
	case k == nil && (f.id != "" || f.name != "" || len(c.list) == 0):
		return c.open(f), nil
	case k == nil && len(c.list) == 1:
		return c.list[0], nil
	case k == nil:
		return nil, errStray
	case f.id == "" || f.id == k.id:
		return k, nil
	case k.id == "":
		k.id = f.id
		return k, nil
	case f.name != "" || k.heard:
		return c.open(f), nil
	}
	k.id += f.id
	return k, nil
}

func (c *calls) findByID(f *fragment) (*call, error) {
	if f.id != "" {
		for _, k := range c.list {
			if k.id == f.id {
				return k, nil
			}
		}
		return c.open(f), nil
	}
	if n := len(c.list); n > 0 {
		return c.list[n-1], nil
	}
	if f.name != "" {
		return c.open(f), nil
	}
	return nil, errStray
}

func (c *calls) newest(index int) *call {
	for i := len(c.list) - 1; i >= 0; i-- {
		if k := c.list[i]; k.indexed && k.index == index {
			return k
		}
	}
	return nil
}

func (c *calls) open(f *fragment) *call {
	k := &call{index: f.index, indexed: f.indexed, id: f.id}
	c.list = append(c.list, k)
	return k
}

func (c *calls) position(k *call) int {
	for i := len(c.list) - 1; i >= 0; i-- {
		if c.list[i] == k {
			return i
		}
	}
	return -1
}

// announce starts, in the order in which they came, the calls before last whose name and id are known; all is for calls
// that will never be known better. One that is not known yet holds up those behind it.
func (c *calls) announce(out *wire.Sink, last int, all bool) {
	for i, k := range c.list[:last] {
		if k.announced {
			continue
		}
		if !all && (k.id == "" || k.name == "") {
			return
		}
		k.announced = true
		out.Start(i, k.id, k.name)
		out.Arguments(i, k.held)
		k.held = ""
	}
}

// settle starts the calls that text is about to follow, so that the order is kept.
func (c *calls) settle(out *wire.Sink) { c.announce(out, len(c.list), false) }

// finish starts all calls that were held back.
func (c *calls) finish(out *wire.Sink) { c.announce(out, len(c.list), true) }
