package contrib

import "slices"

// cycle returns the names of the cycle that e would close with arcs, from the byte-wise smallest name back to it, or
// nil. arcs are the other entries that are named and replace a name. A cycle counts when its arcs can stand in one view:
// those of the workspace with those of one thread.
func cycle(e *entry, arcs []*entry) []string {
	leaves := func(a *entry) bool { return a.info.Replaces == e.info.Name }
	arrives := func(a *entry) bool { return a.info.Name == e.info.Replaces }
	if !e.arc() || !slices.ContainsFunc(arcs, leaves) || !slices.ContainsFunc(arcs, arrives) {
		return nil
	}
	threads := []ThreadID{e.info.Thread}
	if e.info.Thread == "" {
		for _, a := range arcs {
			threads = append(threads, a.info.Thread)
		}
		slices.Sort(threads)
		threads = slices.Compact(threads)
	}
	for _, thread := range threads {
		next := map[string][]string{}
		for _, a := range arcs {
			if a.info.Thread == "" || a.info.Thread == thread {
				next[a.info.Replaces] = append(next[a.info.Replaces], a.info.Name)
			}
		}
		if path := path(next, e.info.Name, e.info.Replaces); path != nil {
			return rotate(path)
		}
	}
	return nil
}

// path returns a shortest walk between two names, both included, or nil. Of several the same one is always found.
func path(next map[string][]string, from, to string) []string {
	before := map[string]string{from: from}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == to {
			walk := []string{at}
			for at != from {
				at = before[at]
				walk = append(walk, at)
			}
			slices.Reverse(walk)
			return walk
		}
		slices.Sort(next[at])
		for _, name := range next[at] {
			if _, ok := before[name]; !ok {
				before[name] = at
				queue = append(queue, name)
			}
		}
	}
	return nil
}

// rotate turns the names of a cycle so that they start and end with the byte-wise smallest.
func rotate(names []string) []string {
	first := slices.Index(names, slices.Min(names))
	out := append(slices.Clone(names[first:]), names[:first]...)
	return append(out, out[0])
}
