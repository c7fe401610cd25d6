package contrib

import "slices"

// change plays ops on the newest state and publishes the result: all of them or, after an error, none. The count is the
// number of entries of released threads.
func (r *Registry) change(ops ...op) (int, error) {
	r.mu.Lock()
	d := newDraft(r, r.View())
	count := 0
	for _, o := range ops {
		n, err := d.play(o)
		if err != nil {
			r.mu.Unlock()
			return 0, err
		}
		count += n
	}
	r.publish(d)
	r.mu.Unlock()
	r.notices.deliver(r)
	return count, nil
}

// publish makes a draft of the newest state the newest state, and queues what has to be told. The caller holds r.mu,
// and delivers when it has given it back.
func (r *Registry) publish(d *draft) {
	out := d.seal(r.last, false)
	r.last = out.last
	for _, h := range d.adds {
		if _, ok := d.fresh[h]; !ok {
			continue
		}
		h.id.Store(h.entry.info.ID)
		h.life.Store(live)
		h.owner.handles[h] = struct{}{}
		if s := h.owner.staging; s != nil && d.owned[h] != nil {
			s.owned = append(s.owned, d.owned[h])
		}
	}
	// Newest first: what was never published was added after what was.
	slices.Reverse(d.cancelled)
	slices.SortStableFunc(d.removed, newestFirst)
	var closing []*entry
	for _, h := range slices.Concat(d.cancelled, d.removed) {
		h.die()
		if h.entry.owned {
			closing = append(closing, h.entry)
		}
	}
	if out.view != d.base {
		r.view.Store(out.view)
		r.notices.post(notice{event: &Event{Version: out.view.version, Changes: out.changes}})
	}
	for _, l := range out.losses {
		if !l.loser.conflicted {
			l.loser.conflicted = true
			r.notices.record(l.diagnostic())
		}
	}
	for _, h := range d.holds {
		r.notices.record(h.diagnostic())
	}
	for o := range d.closed {
		o.close()
	}
	for s := range r.stagings {
		for _, id := range d.released {
			s.releaseThread(id)
		}
	}
	if len(closing) > 0 {
		r.notices.post(notice{closing: closing})
	}
}

// die ends a handle. The caller holds the registry's lock.
func (h *Handle) die() {
	h.life.Store(dead)
	if h.owner != nil {
		delete(h.owner.handles, h)
		h.owner = nil
	}
}
