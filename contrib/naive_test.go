package contrib_test

import (
	"fmt"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
)

// naive is the registry as its rules tell it: a list of entries and a list of holds, read from end to end each
// time.
type naive struct {
	entries []*naiveEntry
	holds   []naiveHold
	last    uint64
}

type naiveEntry struct {
	id              uint64
	point           *contrib.Point[thing]
	value           string
	order           int
	named, replaces string
	thread          contrib.ThreadID
	owner           string // "", a module, or a plugin
	reported        bool   // a conflict was
}

type naiveHold struct {
	point          *contrib.Point[thing]
	target, plugin string
	thread         contrib.ThreadID
	order          int
	id             uint64
}

var (
	modelPoints  = []*contrib.Point[thing]{pointP, pointHeld}
	modelThreads = []contrib.ThreadID{"", t1, t2, "a-thread-with-a-long-id"}
	modelNames   = []string{"", "", "g", "x", "y", "z", "family:a"}
	modelPlugins = []string{"plugin.a", "plugin.b"}
	modelModules = []string{"", "module.a", "module.b"}
)

func (n *naive) clone() *naive {
	return &naive{entries: slices.Clone(n.entries), holds: slices.Clone(n.holds), last: n.last}
}

func guards(p *contrib.Point[thing], target string) bool {
	return p == pointHeld && (target == "g" || target == "family:a")
}

// candidates is step 1 of the algorithm.
func (n *naive) candidates(p *contrib.Point[thing], thread contrib.ThreadID) (c []*naiveEntry) {
	for _, e := range n.entries {
		if e.point == p && (e.thread == "" || e.thread == thread) {
			c = append(c, e)
		}
	}
	return c
}

// winner is step 2: W(name), or nil when R(name) is empty.
func winner(c []*naiveEntry, name string) (w *naiveEntry) {
	for _, e := range c {
		if e.replaces != name || name == "" {
			continue
		}
		if w == nil || (e.thread != "") != (w.thread != "") && e.thread != "" ||
			(e.thread != "") == (w.thread != "") && e.id > w.id {
			w = e
		}
	}
	return w
}

// shown is one line of a resolved list.
type shown struct {
	value string
	order int
	id    uint64
}

// resolve is the whole algorithm.
func (n *naive) resolve(p *contrib.Point[thing], thread contrib.ThreadID) []shown {
	c := n.candidates(p, thread)
	var h []naiveHold // step 3
	for _, hold := range n.holds {
		if hold.point != p || hold.thread != "" && hold.thread != thread {
			continue
		}
		if w := winner(c, hold.target); hold.thread == "" && w != nil && w.thread != "" {
			continue
		}
		h = append(h, hold)
	}
	list := []shown{}
	for _, e := range c { // step 4
		held := slices.ContainsFunc(h, func(hold naiveHold) bool {
			return e.named == hold.target || e.replaces == hold.target
		})
		lost := e.replaces != "" && winner(c, e.replaces) != e
		shadowed := e.named != "" && winner(c, e.named) != nil
		if !held && !lost && !shadowed {
			list = append(list, shown{e.value, e.order, e.id})
		}
	}
	for _, hold := range h { // step 5
		list = append(list, shown{"denied " + hold.target, hold.order, hold.id})
	}
	slices.SortStableFunc(list, func(a, b shown) int { // step 6
		if a.order != b.order {
			return a.order - b.order
		}
		return int(a.id) - int(b.id)
	})
	return list
}

// cyclic reports whether the names of one view replace each other in a ring.
func (n *naive) cyclic() bool {
	for _, p := range modelPoints {
		for _, thread := range modelThreads {
			reach := map[[2]string]bool{}
			for _, e := range n.candidates(p, thread) {
				if e.named != "" && e.replaces != "" {
					reach[[2]string{e.replaces, e.named}] = true
				}
			}
			for _, k := range modelNames {
				for _, i := range modelNames {
					for _, j := range modelNames {
						if reach[[2]string{i, k}] && reach[[2]string{k, j}] {
							reach[[2]string{i, j}] = true
						}
					}
				}
			}
			for _, i := range modelNames {
				if reach[[2]string{i, i}] {
					return true
				}
			}
		}
	}
	return false
}

// remove drops the entries that match and returns how many.
func (n *naive) remove(match func(*naiveEntry) bool) int {
	before := len(n.entries)
	n.entries = slices.DeleteFunc(n.entries, match)
	return before - len(n.entries)
}

// lose drops the entries of a plugin, with the holds that they leave.
func (n *naive) lose(plugin string, hold bool) {
	for _, e := range n.entries {
		if !hold || e.owner != plugin || !guards(e.point, e.replaces) {
			continue
		}
		wins := false
		for _, thread := range modelThreads {
			wins = wins || winner(n.candidates(e.point, thread), e.replaces) == e
		}
		if wins {
			n.holds = append(n.holds, naiveHold{e.point, e.replaces, plugin, e.thread, e.order, e.id})
		}
	}
	n.remove(func(e *naiveEntry) bool { return e.owner == plugin })
}

func (n *naive) unhold(match func(naiveHold) bool) { n.holds = slices.DeleteFunc(n.holds, match) }

// state is what decides whether a point changed.
func (n *naive) state(p *contrib.Point[thing]) string {
	var text []string
	for _, e := range n.entries {
		if e.point == p {
			text = append(text, fmt.Sprint("entry ", e.id))
		}
	}
	for _, h := range n.holds {
		if h.point == p {
			text = append(text, fmt.Sprint("hold ", h.id))
		}
	}
	slices.Sort(text)
	return fmt.Sprint(text)
}

// ownThreads lists the threads with entries or holds of their own on a point.
func (n *naive) ownThreads(p *contrib.Point[thing]) map[contrib.ThreadID]bool {
	own := map[contrib.ThreadID]bool{}
	for _, e := range n.entries {
		if e.point == p && e.thread != "" {
			own[e.thread] = true
		}
	}
	for _, h := range n.holds {
		if h.point == p && h.thread != "" {
			own[h.thread] = true
		}
	}
	return own
}
