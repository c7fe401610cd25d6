package kernel

import (
	"errors"
	"slices"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

var errApart = errors.New("kernel: the turn that started the subagent is over")

// append stores a record of the turn. What a subagent does is stored in the log of its parent first.
func (t *turn) append(r threadlog.Record) error {
	if c := t.thread.child; c != nil {
		err := errApart
		c.with(func() { err = c.store(r) })
		if err != nil {
			return err
		}
		// In its own thread a call of its model has no parent.
		switch r := r.(type) {
		case *threadlog.Call:
			r.ParentCallID = unless(r.ParentCallID, c.call)
		case *threadlog.Result:
			r.ParentCallID = unless(r.ParentCallID, c.call)
		}
	}
	return t.thread.log.Append(r)
}

func unless(id, other string) string {
	if id == other {
		return ""
	}
	return id
}

// store appends the parent's copy of a record of the subagent.
func (c *child) store(r threadlog.Record) error {
	parent := c.parent.thread.log
	switch r := r.(type) {
	case *threadlog.Round:
		own := *r
		own.Stamp, own.Turn, own.Agent, own.Items = threadlog.Stamp{}, c.turn, c.thread.id, make([]*model.Item, len(r.Items))
		for i, it := range r.Items {
			own.Items[i] = foreign(it)
		}
		return parent.Append(&own)
	case *threadlog.Call:
		own := *r
		own.Stamp, own.Turn, own.Agent = threadlog.Stamp{}, c.turn, c.thread.id
		return parent.Append(&own)
	case *threadlog.Result:
		own := *r
		own.Stamp, own.Turn, own.Agent, own.Item = threadlog.Stamp{}, c.turn, c.thread.id, foreign(r.Item)
		own.OutputPath = "" // the file goes with the subagent
		return parent.Append(&own)
	}
	return nil
}

// foreign is an item for the log of another thread: with an id of that log, and without images, whose numbers are the
// thread's own.
func foreign(it *model.Item) *model.Item {
	own := *it
	own.ID, own.Images = "", nil
	own.Text = threadlog.PlainMarkers(it.Text)
	own.Segments = slices.Clone(it.Segments)
	return &own
}
