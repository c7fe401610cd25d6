package contrib

import (
	"cmp"
	"slices"
)

// Hold is a mark on a guarding target whose winner was lost through no decision of the operator. While it stands, a
// stand-in occupies the target.
type Hold struct {
	Point, Target, PluginID, GenerationID string
	Thread                                ThreadID // blank: workspace scope
	Order                                 int      // of the lost entry
	EntryID                               uint64   // of the lost entry
}

// hold is a Hold with its stand-in.
type hold struct {
	Hold
	standIn *entry
}

// StopCause says why a registrar of a plugin is closed.
type StopCause uint8

// The causes. Fault, Restart and Dependency hold guarding targets.
const (
	StopOperator   StopCause = iota + 1 // the operator disabled or removed the plugin, or revoked its trust
	StopShutdown                        // the host ends
	StopFault                           // background work or an activation failed
	StopRestart                         // quiesce and reconcile, new settings
	StopDependency                      // a provider stopped
)

// Holds reports whether the cause holds guarding targets. Every cause that is not a decision of the operator does: an
// unknown one fails closed.
func (c StopCause) Holds() bool { return c != StopOperator && c != StopShutdown }

// String returns the name of the cause.
func (c StopCause) String() string {
	return word(c, "operator", "shutdown", "fault", "restart", "dependency")
}

// newHold makes the hold that a lost entry leaves. StandIn may fail as any code may: then the zero value occupies the
// target, which no reader can use, so the target stays closed.
func newHold(lost *entry) *hold {
	h := &hold{Hold: Hold{
		Point: lost.point.info.Name, Target: lost.info.Replaces, PluginID: lost.info.Origin.id,
		GenerationID: lost.info.Origin.generation, Thread: lost.info.Thread, Order: lost.info.Order,
		EntryID: lost.info.ID,
	}}
	info := lost.info
	info.Name, info.Meta, info.Held = "", nil, true
	h.standIn = &entry{info: info, point: lost.point}
	func() {
		defer func() { _ = recover() }()
		h.standIn.value = lost.point.standIn(h.Hold)
	}()
	return h
}

// standIns returns the stand-ins of holds by place.
func standIns(holds []*hold) []*entry {
	if len(holds) == 0 {
		return nil
	}
	list := make([]*entry, 0, len(holds))
	for _, h := range holds {
		list = append(list, h.standIn)
	}
	slices.SortStableFunc(list, byPlace)
	return list
}

// holdsOf returns the holds with the scope of one thread, or with workspace scope.
func (s *pointState) holdsOf(thread ThreadID) []*hold {
	var out []*hold
	for _, h := range s.holds {
		if h.Thread == thread {
			out = append(out, h)
		}
	}
	return out
}

// Holds lists the holds that stand, sorted by point, target, thread and entry.
func (r *Registry) Holds() []Hold {
	var out []Hold
	for _, s := range r.View().points {
		if s == nil {
			continue
		}
		for _, h := range s.holds {
			out = append(out, h.Hold)
		}
	}
	slices.SortFunc(out, func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Thread, b.Thread),
			cmp.Compare(a.EntryID, b.EntryID))
	})
	return out
}
