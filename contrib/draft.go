package contrib

import (
	"cmp"
	"slices"
)

// opKind is one of the things that change a registry.
type opKind uint8

const (
	opAdd     opKind = iota
	opRevoke         // a handle
	opRelease        // a thread
	opClose          // a registrar with its children
	opUnhold         // the holds of one plugin
)

// op is one change. A batch keeps its changes as a list of these and plays them on the state that it finds when it is
// published.
type op struct {
	kind   opKind
	handle *Handle
	owned  any // opAdd by a plugin: the value that its release closes
	thread ThreadID
	owner  *owner
	hold   bool // opClose: guarding targets are held
	plugin string
}

// draft is a state under construction. It is used under the registry's lock, or by a batch under its own.
type draft struct {
	registry *Registry
	base     *View
	points   []*pointDraft

	adds      []*Handle // accepted, in order
	fresh     map[*Handle]struct{}
	owned     map[*Handle]any
	removed   []*Handle // were published
	cancelled []*Handle // were never published
	closed    map[*owner]struct{}
	released  []ThreadID
	holds     []*hold // placed here
}

// pointDraft is what a draft does to one point.
type pointDraft struct {
	base    *pointState
	arcs    []*entry // of added entries
	removed map[*entry]struct{}
	holds   []*hold
	held    bool // holds differ from those of base

	added []*entry // filled by seal
}

func newDraft(r *Registry, base *View) *draft {
	return &draft{
		registry: r, base: base,
		fresh: map[*Handle]struct{}{}, owned: map[*Handle]any{}, closed: map[*owner]struct{}{},
	}
}

func (d *draft) point(def *definition) *pointDraft {
	for _, p := range d.points {
		if p.base.point == def {
			return p
		}
	}
	base := d.base.state(def)
	if base == unused {
		base = &pointState{point: def}
	}
	p := &pointDraft{base: base, removed: map[*entry]struct{}{}, holds: base.holds}
	d.points = append(d.points, p)
	return p
}

// play does one change. The count is the number of entries that a released thread had.
func (d *draft) play(o op) (int, error) {
	switch o.kind {
	case opAdd:
		return 0, d.add(o.handle, o.owned)
	case opRevoke:
		d.revoke(o.handle)
	case opRelease:
		return d.release(o.thread), nil
	case opClose:
		d.close(o.owner, o.hold)
	case opUnhold:
		d.unhold(func(h *hold) bool { return h.PluginID == o.plugin })
	}
	return 0, nil
}

// add accepts a prepared entry, or refuses it for what only the state can tell.
func (d *draft) add(h *Handle, owned any) error {
	e := h.entry
	if h.life.Load() == dead {
		return nil // revoked before its publication
	}
	if d.registry.closed || d.closes(h.owner) || !h.owner.publishes() {
		return refuse(e.point, ErrClosed, "")
	}
	p := d.point(e.point)
	if e.arc() {
		if names := cycle(e, p.allArcs()); names != nil {
			return cycleRefused(e.point, names)
		}
		p.arcs = append(p.arcs, e)
	}
	d.adds = append(d.adds, h)
	d.fresh[h] = struct{}{}
	if owned != nil {
		d.owned[h] = owned
	}
	return nil
}

func cycleRefused(d *definition, names []string) *RefusedError {
	err := refuse(d, ErrReplaceCycle, "")
	err.Names = names
	return err
}

// closes reports whether the registrar, or one that it is a child of, is closed here or was before.
func (d *draft) closes(o *owner) bool {
	for ; o != nil; o = o.parent {
		if _, ok := d.closed[o]; ok || o.closed {
			return true
		}
	}
	return false
}

func (p *pointDraft) allArcs() []*entry {
	arcs := edit(p.base.arcs, nil, p.removed)
	return append(arcs[:len(arcs):len(arcs)], p.arcs...)
}

func (d *draft) revoke(h *Handle) {
	e := h.entry
	if _, ok := d.fresh[h]; ok {
		delete(d.fresh, h)
		delete(d.owned, h)
		d.cancelled = append(d.cancelled, h)
		p := d.point(e.point)
		p.arcs = slices.DeleteFunc(p.arcs, func(a *entry) bool { return a == e })
		return
	}
	switch h.life.Load() {
	case live:
		p := d.point(e.point)
		if _, ok := p.removed[e]; !ok {
			p.removed[e] = struct{}{}
			d.removed = append(d.removed, h)
		}
	case pending:
		d.cancelled = append(d.cancelled, h)
	}
}

// release revokes what is scoped to a thread and returns how many entries that were.
func (d *draft) release(id ThreadID) int {
	d.released = append(d.released, id)
	var list []*Handle
	for _, s := range d.base.points {
		if s == nil {
			continue
		}
		t := s.thread(id)
		if t == nil {
			continue
		}
		p := d.point(s.point)
		for _, e := range t.entries {
			if _, ok := p.removed[e]; !ok {
				list = append(list, e.handle)
			}
		}
	}
	for _, h := range d.adds {
		if _, ok := d.fresh[h]; ok && h.entry.info.Thread == id {
			list = append(list, h)
		}
	}
	for _, h := range list {
		d.revoke(h)
	}
	d.unhold(func(h *hold) bool { return h.Thread == id })
	return len(list)
}

// close closes a registrar with its children. With hold, the guarding targets that its entries win are held.
func (d *draft) close(o *owner, hold bool) {
	if d.closes(o) {
		return
	}
	var list []*Handle
	o.walk(func(o *owner) {
		d.closed[o] = struct{}{}
		for h := range o.handles {
			list = append(list, h)
		}
	})
	for _, h := range d.adds {
		if _, ok := d.fresh[h]; ok && d.closes(h.owner) {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, newestFirst)
	if hold {
		for _, h := range list {
			d.hold(h.entry)
		}
	}
	for _, h := range list {
		d.revoke(h)
	}
}

func newestFirst(a, b *Handle) int { return cmp.Compare(b.id.Load(), a.id.Load()) }

// hold marks the target of a live entry that is about to be lost, if it is guarding and the entry wins it.
func (d *draft) hold(e *entry) {
	if e.info.Replaces == "" || e.info.ID == 0 || !e.point.guarding(e.info.Replaces) {
		return
	}
	p := d.point(e.point)
	if _, ok := p.removed[e]; ok || d.winner(p, e) != e {
		return
	}
	h := newHold(e)
	p.holds = append(p.holds[:len(p.holds):len(p.holds)], h)
	p.held = true
	d.holds = append(d.holds, h)
}

// winner is the entry that wins the target of e among those of e's scope. A workspace entry that loses there wins in
// no thread either.
func (d *draft) winner(p *pointDraft, e *entry) *entry {
	rivals := p.base.replacers
	if t := p.base.thread(e.info.Thread); t != nil {
		rivals = t.entries
	}
	var best *entry
	for _, rival := range rivals {
		if _, gone := p.removed[rival]; gone || rival.info.Replaces != e.info.Replaces {
			continue
		}
		if best == nil || best.info.ID < rival.info.ID {
			best = rival
		}
	}
	for _, h := range d.adds {
		rival := h.entry
		if _, ok := d.fresh[h]; ok && rival.point == e.point && rival.info.Thread == e.info.Thread &&
			rival.info.Replaces == e.info.Replaces {
			best = rival
		}
	}
	return best
}

// unhold releases the holds that match.
func (d *draft) unhold(match func(*hold) bool) {
	for _, s := range d.base.points {
		if s != nil && slices.ContainsFunc(s.holds, match) {
			d.point(s.point)
		}
	}
	for _, p := range d.points {
		if slices.ContainsFunc(p.holds, match) {
			p.holds = slices.DeleteFunc(slices.Clone(p.holds), match)
			p.held = true
		}
	}
}
