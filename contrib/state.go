package contrib

import (
	"cmp"
	"slices"
	"sort"
)

// pointState is one point at one instant: its live entries, and what they resolve to. It does not change once it is
// published, and shares with the state before it whatever is the same.
type pointState struct {
	point    *definition
	revision uint64

	entries   []*entry // with workspace scope, by place
	replacers []*entry // those of entries that replace a name
	arcs      []*entry // of every scope, that are named and replace a name
	holds     []*hold  // in the order in which they were placed
	threads   []*threadState

	resolved []*entry // the workspace list
}

// threadState is what one thread has of its own on a point. Its list is the workspace list without drops, and with
// resolved.
type threadState struct {
	id       ThreadID
	entries  []*entry // scoped to the thread, by place
	resolved []*entry // those of entries that are effective, and the stand-ins of the thread's holds
	drops    []*entry // of the workspace list, that the thread does not see
}

func (s *pointState) thread(id ThreadID) *threadState {
	if id == "" {
		return nil
	}
	i, ok := slices.BinarySearchFunc(s.threads, id, func(t *threadState, id ThreadID) int { return cmp.Compare(t.id, id) })
	if !ok {
		return nil
	}
	return s.threads[i]
}

// list is the resolved list of a thread.
func (s *pointState) list(id ThreadID) []*entry {
	if t := s.thread(id); t != nil {
		return t.list(s)
	}
	return s.resolved
}

// list merges what the thread has with what it sees of the workspace list.
func (t *threadState) list(s *pointState) []*entry {
	out := make([]*entry, 0, len(s.resolved)+len(t.resolved)-len(t.drops))
	own, drops := t.resolved, t.drops
	for _, e := range s.resolved {
		if len(drops) > 0 && drops[0] == e {
			drops = drops[1:]
			continue
		}
		for len(own) > 0 && byPlace(own[0], e) < 0 {
			out, own = append(out, own[0]), own[1:]
		}
		out = append(out, e)
	}
	return append(out, own...)
}

// edit returns list without the entries of removed and with those of added, which are sorted by place. It returns list
// itself when nothing changes.
func edit(list, added []*entry, removed map[*entry]struct{}) []*entry {
	gone := 0
	if len(removed) > 0 {
		for _, e := range list {
			if _, ok := removed[e]; ok {
				gone++
			}
		}
	}
	if gone == 0 && len(added) == 0 {
		return list
	}
	out := make([]*entry, 0, len(list)-gone+len(added))
	if gone == 0 && len(added) == 1 {
		i := sort.Search(len(list), func(i int) bool { return byPlace(list[i], added[0]) > 0 })
		out = append(out, list[:i]...)
		out = append(out, added[0])
		return append(out, list[i:]...)
	}
	for _, e := range list {
		if gone > 0 {
			if _, ok := removed[e]; ok {
				continue
			}
		}
		for len(added) > 0 && byPlace(added[0], e) < 0 {
			out, added = append(out, added[0]), added[1:]
		}
		out = append(out, e)
	}
	return append(out, added...)
}

// keep returns those of list for which want is true, or list itself when that is all of them.
func keep(list []*entry, want func(*entry) bool) []*entry {
	for i, e := range list {
		if want(e) {
			continue
		}
		out := append(make([]*entry, 0, len(list)-1), list[:i]...)
		for _, e := range list[i+1:] {
			if want(e) {
				out = append(out, e)
			}
		}
		return out
	}
	return list
}

// same returns old when now holds the same entries, so that equal lists are one list.
func same(old, now []*entry) []*entry {
	if slices.Equal(old, now) {
		return old
	}
	return now
}

// identical reports whether a and b are one list.
func identical(a, b []*entry) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
