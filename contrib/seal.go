package contrib

import (
	"cmp"
	"slices"
)

// outcome is the view that a draft comes to.
type outcome struct {
	view    *View
	changes []Change
	losses  []loss
	last    uint64 // the last id that was assigned
}

// seal builds the view. Entries get their ids here, counted from last. With preview they are copied first: the picture
// of a batch has ids too, but only a publication assigns those that last.
func (d *draft) seal(last uint64, preview bool) outcome {
	for _, p := range d.points {
		p.added = nil
	}
	for _, h := range d.adds {
		if _, ok := d.fresh[h]; !ok {
			continue
		}
		e := h.entry
		if preview {
			if h.life.Load() == dead {
				continue
			}
			e = &entry{info: e.info, point: e.point, value: e.value, handle: h}
		}
		last++
		e.info.ID = last
		p := d.point(e.point)
		p.added = append(p.added, e)
	}
	out := outcome{view: d.base, last: last}
	for _, p := range d.points {
		if len(p.added) == 0 && len(p.removed) == 0 && (!p.held || slices.Equal(p.holds, p.base.holds)) {
			continue
		}
		if out.view == d.base {
			out.view = &View{
				version: d.base.version + 1,
				lists:   slices.Clone(d.base.lists), points: slices.Clone(d.base.points),
			}
		}
		now, losses := p.next()
		n := now.point.number
		out.view.lists[n] = now.point.lists(d.base.lists[n], p.base, now)
		out.view.points[n] = now
		out.changes = append(out.changes, changeOf(p.base, now))
		out.losses = append(out.losses, losses...)
	}
	slices.SortFunc(out.changes, func(a, b Change) int { return cmp.Compare(a.Point, b.Point) })
	return out
}

// next builds the point's next state. Lists that the draft did not touch are those of the state before.
func (p *pointDraft) next() (*pointState, []loss) {
	slices.SortFunc(p.added, byPlace)
	old := p.base
	added := func(want func(e *entry) bool) []*entry { return keep(p.added, want) }
	now := &pointState{
		point:    old.point,
		revision: old.revision + 1,
		entries:  edit(old.entries, added(func(e *entry) bool { return e.info.Thread == "" }), p.removed),
		replacers: edit(old.replacers, added(func(e *entry) bool {
			return e.info.Thread == "" && e.info.Replaces != ""
		}), p.removed),
		arcs:    edit(old.arcs, added((*entry).arc), p.removed),
		holds:   p.holds,
		threads: p.threads(),
	}
	return now, now.resolve(old)
}

// threads returns the point's next threads, not resolved yet.
func (p *pointDraft) threads() []*threadState {
	touched := map[ThreadID][]*entry{}
	for _, e := range p.added {
		touched[e.info.Thread] = append(touched[e.info.Thread], e)
	}
	for e := range p.removed {
		touched[e.info.Thread] = append(touched[e.info.Thread], nil...)
	}
	for _, h := range slices.Concat(p.holds, p.base.holds) {
		touched[h.Thread] = append(touched[h.Thread], nil...)
	}
	delete(touched, "")
	threads := slices.Clone(p.base.threads)
	for id, added := range touched {
		i, ok := slices.BinarySearchFunc(threads, id, func(t *threadState, id ThreadID) int { return cmp.Compare(t.id, id) })
		t := &threadState{id: id}
		if ok {
			t.entries = threads[i].entries
		}
		t.entries = edit(t.entries, added, p.removed)
		used := len(t.entries) > 0 || slices.ContainsFunc(p.holds, func(h *hold) bool { return h.Thread == id })
		switch {
		case ok && used:
			threads[i] = t
		case ok:
			threads = slices.Delete(threads, i, i+1)
		case used:
			threads = slices.Insert(threads, i, t)
		}
	}
	return threads
}

// changeOf says which lists of a point are different in now.
func changeOf(old, now *pointState) Change {
	c := Change{Point: now.point.info.Name, Revision: now.revision}
	var added, removed []*entry
	if !identical(old.resolved, now.resolved) {
		c.Workspace = true
		added, removed = diff(old.resolved, now.resolved)
	}
	none := &threadState{}
	was, is := old.threads, now.threads
	for len(was) > 0 || len(is) > 0 {
		before, after, id := none, none, ThreadID("")
		switch {
		case len(was) > 0 && len(is) > 0 && (was[0] == is[0] || was[0].id == is[0].id):
			before, after, id, was, is = was[0], is[0], is[0].id, was[1:], is[1:]
		case len(is) == 0 || len(was) > 0 && was[0].id < is[0].id:
			before, id, was = was[0], was[0].id, was[1:]
		default:
			after, id, is = is[0], is[0].id, is[1:]
		}
		if differs(before, after, added, removed) {
			c.Threads = append(c.Threads, id)
		}
	}
	return c
}

// diff returns what is only in now and what is only in old.
func diff(old, now []*entry) (added, removed []*entry) {
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(old) > 0 && len(now) > 0 && old[0] == now[0]:
			old, now = old[1:], now[1:]
		case len(now) == 0 || len(old) > 0 && byPlace(old[0], now[0]) < 0:
			removed, old = append(removed, old[0]), old[1:]
		default:
			added, now = append(added, now[0]), now[1:]
		}
	}
	return added, removed
}

// differs reports whether the list of a thread is another one, when added and removed are what changed in the workspace
// list.
func differs(before, after *threadState, added, removed []*entry) bool {
	if before == after && len(added)+len(removed) == 0 {
		return false
	}
	if !slices.Equal(before.resolved, after.resolved) ||
		len(added) > len(after.drops) || len(removed) > len(before.drops) {
		return true
	}
	for _, e := range added {
		if !slices.Contains(after.drops, e) {
			return true
		}
	}
	for _, e := range removed {
		if !slices.Contains(before.drops, e) {
			return true
		}
	}
	stayed := func(drops, moved []*entry) []*entry {
		return keep(drops, func(e *entry) bool { return !slices.Contains(moved, e) })
	}
	return !slices.Equal(stayed(before.drops, removed), stayed(after.drops, added))
}
