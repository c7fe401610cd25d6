package contrib

import "slices"

// winners maps each replaced name to the entry that replaces it: of one scope, the latest.
type winners map[string]*entry

func winnersOf(entries []*entry) winners {
	var w winners
	for _, e := range entries {
		if e.info.Replaces == "" {
			continue
		}
		if w == nil {
			w = winners{}
		}
		if best := w[e.info.Replaces]; best == nil || best.info.ID < e.info.ID {
			w[e.info.Replaces] = e
		}
	}
	return w
}

// loss is an entry that lost its target to another replacement.
type loss struct {
	loser, winner *entry
	thread        ThreadID // where it lost; blank: in the workspace list
}

// resolve fills in what the entries and holds of s resolve to, thread by thread, and returns the losses. old is the
// state before; lists that are the same are taken from it.
//
// A thread can only take away from what the workspace list shows, and add entries of its own: a replacement in the
// thread beats those of the workspace, whose losers stay losers, and a workspace hold that gives way to a thread's
// replacement leaves its target to that replacement. So a thread is kept as that difference, and a registry with many
// threads does not hold a list for each.
func (s *pointState) resolve(old *pointState) []loss {
	r := resolver{state: s, workspace: winnersOf(s.replacers)}
	for _, h := range s.holds {
		if h.Thread == "" {
			r.held = append(r.held, h)
		}
	}
	list := s.entries
	if len(r.workspace) > 0 || len(r.held) > 0 {
		list = keep(list, func(e *entry) bool { return r.workspaceRival(e) == nil })
		list = edit(list, standIns(r.held), nil)
	}
	s.resolved = same(old.resolved, list)
	for _, e := range s.replacers {
		if w := r.workspace[e.info.Replaces]; w != e {
			r.losses = append(r.losses, loss{e, w, ""})
		}
	}
	before := old.threads
	for i, t := range s.threads {
		for len(before) > 0 && before[0] != t && before[0].id < t.id {
			before = before[1:]
		}
		if len(before) > 0 && (before[0] == t || before[0].id == t.id) {
			s.threads[i] = r.thread(t, before[0])
		} else {
			s.threads[i] = r.thread(t, nil)
		}
	}
	return r.losses
}

// resolver is the work on one state.
type resolver struct {
	state     *pointState
	workspace winners
	held      []*hold // with workspace scope
	losses    []loss

	// seen finds the entries of the workspace list by name and replaced name, and rivals the workspace replacements
	// of a name. Both are made when a thread needs them.
	seen   map[string][]*entry
	rivals map[string][]*entry
}

// workspaceRival returns what keeps e out of the workspace list, or nil.
func (r *resolver) workspaceRival(e *entry) *entry {
	if h := holdOn(r.held, e); h != nil {
		return h.standIn
	}
	return beaten(e, r.workspace)
}

// beaten returns the winner that shadows e by one of its names, or nil.
func beaten(e *entry, w winners) *entry {
	if e.info.Replaces != "" {
		if best := w[e.info.Replaces]; best != nil && best != e {
			return best
		}
	}
	if e.info.Name != "" {
		return w[e.info.Name]
	}
	return nil
}

func holdOn(holds []*hold, e *entry) *hold {
	for _, h := range holds {
		if e.info.Occupies(h.Target) {
			return h
		}
	}
	return nil
}

// thread resolves one thread. before is its state in the view before, if it had one; it is returned again when nothing
// is different.
func (r *resolver) thread(t, before *threadState) *threadState {
	own := winnersOf(t.entries)
	held := r.state.holdsOf(t.id)
	resolved := keep(t.entries, func(e *entry) bool { return r.threadRival(e, own, held) == nil })
	resolved = edit(resolved, standIns(held), nil)
	var drops []*entry
	if len(own) > 0 || len(held) > 0 {
		drops = r.drops(own, held)
		r.threadLosses(t, own)
	}
	if before != nil {
		resolved, drops = same(before.resolved, resolved), same(before.drops, drops)
		if identical(before.entries, t.entries) && identical(before.resolved, resolved) &&
			identical(before.drops, drops) {
			return before
		}
	}
	return &threadState{id: t.id, entries: t.entries, resolved: resolved, drops: drops}
}

// threadRival returns what keeps e out of the list of the thread whose winners and holds are given, or nil.
func (r *resolver) threadRival(e *entry, own winners, held []*hold) *entry {
	for _, h := range r.held {
		if own[h.Target] == nil && e.info.Occupies(h.Target) {
			return h.standIn
		}
	}
	if h := holdOn(held, e); h != nil {
		return h.standIn
	}
	if best := beaten(e, own); best != nil {
		return best
	}
	if own[e.info.Replaces] == e {
		// It beats the workspace's replacement of its target; its own name may still be replaced there.
		return r.workspace[e.info.Name]
	}
	return beaten(e, r.workspace)
}

// drops lists what a thread with these winners and holds does not see of the workspace list.
func (r *resolver) drops(own winners, held []*hold) []*entry {
	if r.seen == nil {
		r.seen = map[string][]*entry{}
		for _, e := range r.state.resolved {
			for _, name := range []string{e.info.Name, e.info.Replaces} {
				if name != "" {
					r.seen[name] = append(r.seen[name], e)
				}
			}
		}
	}
	var drops []*entry
	for name := range own {
		drops = append(drops, r.seen[name]...)
	}
	for _, h := range held {
		for _, e := range r.seen[h.Target] {
			if !e.info.Held {
				drops = append(drops, e)
			}
		}
	}
	slices.SortFunc(drops, byPlace)
	return slices.Compact(drops)
}

// threadLosses notes who lost a target inside the thread.
func (r *resolver) threadLosses(t *threadState, own winners) {
	if r.rivals == nil {
		r.rivals = map[string][]*entry{}
		for _, e := range r.state.replacers {
			r.rivals[e.info.Replaces] = append(r.rivals[e.info.Replaces], e)
		}
	}
	for _, e := range t.entries {
		w := own[e.info.Replaces]
		if e.info.Replaces == "" {
			continue
		}
		if w != e {
			r.losses = append(r.losses, loss{e, w, t.id})
			continue
		}
		for _, loser := range r.rivals[e.info.Replaces] {
			r.losses = append(r.losses, loss{loser, w, t.id})
		}
	}
}

// infos lists the entries of a thread's list, and after them the shadowed ones with what shadows them.
func (s *pointState) infos(thread ThreadID) []EntryInfo {
	list := s.list(thread)
	out := make([]EntryInfo, 0, len(list))
	for _, e := range list {
		out = append(out, e.info)
	}
	r := resolver{state: s, workspace: winnersOf(s.replacers), held: s.holdsOf("")}
	candidates, own, held := s.entries, winners(nil), []*hold(nil)
	if t := s.thread(thread); t != nil {
		candidates = edit(candidates, t.entries, nil)
		own, held = winnersOf(t.entries), s.holdsOf(thread)
	}
	for _, e := range candidates {
		if rival := r.threadRival(e, own, held); rival != nil {
			info := e.info
			info.ShadowedBy = rival.info.ID
			out = append(out, info)
		}
	}
	return out
}
