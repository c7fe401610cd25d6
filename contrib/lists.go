package contrib

import (
	"sync/atomic"
	"unsafe"
)

// eagerLists is how many elements the lists of one point may have together to be computed at the publication. Beyond it
// a thread's list, and the metadata of the workspace list, are computed by the first reader and then kept: a registry
// with thousands of entries and threads would copy all of them at each add.
var eagerLists = 1024

// lists is what one point resolves to in one view, in its own type.
type lists[T any] struct {
	values  []T      // the workspace list
	threads table[T] // of those that have anything of their own
	entries atomic.Pointer[[]Entry[T]]
	state   *pointState
}

// makeLists makes the lists of now. before are those of old; what is the same is taken from there.
func makeLists[T any](before unsafe.Pointer, old, now *pointState) unsafe.Pointer {
	was := (*lists[T])(before)
	if was == nil {
		was, old = &lists[T]{}, unused
	}
	l := &lists[T]{state: now}
	unchanged := identical(old.resolved, now.resolved)
	if unchanged {
		l.values = was.values
		l.entries.Store(was.entries.Load())
	} else {
		l.values = valuesOf(now.resolved, old.resolved, was.values)
	}
	size := len(now.resolved)
	for _, t := range now.threads {
		size += len(now.resolved) + len(t.resolved)
	}
	eager := size <= eagerLists
	if eager && l.entries.Load() == nil {
		l.entries.Store(entriesOf[T](now.resolved))
	}
	l.threads = newTable[T](now.threads)
	for i := range l.threads.slots {
		s := &l.threads.slots[i]
		if s.state == nil {
			continue
		}
		if unchanged {
			s.take(was.threads.find(s.id))
		}
		if eager && s.values.Load() == nil {
			list := s.state.list(now)
			values := valuesOf[T](list, nil, nil)
			s.values.Store(&values)
			s.entries.Store(entriesOf[T](list))
		}
		if values := s.values.Load(); values != nil {
			s.eager = *values
		}
	}
	return unsafe.Pointer(l)
}

// take copies the lists that a thread had, if it sees the same now.
func (s *slot[T]) take(was *slot[T]) {
	if was != nil && identical(was.state.resolved, s.state.resolved) && identical(was.state.drops, s.state.drops) {
		s.values.Store(was.values.Load())
		s.entries.Store(was.entries.Load())
	}
}

// search returns the list of any thread. It may have to be computed first.
func (l *lists[T]) search(thread ThreadID) []T {
	s := l.threads.find(thread)
	if s == nil {
		return l.values
	}
	if values := s.values.Load(); values != nil {
		return *values
	}
	values := valuesOf[T](s.state.list(l.state), nil, nil)
	if !s.values.CompareAndSwap(nil, &values) {
		return *s.values.Load()
	}
	return values
}

// entriesIn returns the list of a thread, or the workspace list, with metadata.
func (l *lists[T]) entriesIn(thread ThreadID) []Entry[T] {
	kept := &l.entries
	var state *threadState
	if thread != "" {
		if s := l.threads.find(thread); s != nil {
			kept, state = &s.entries, s.state
		}
	}
	if entries := kept.Load(); entries != nil {
		return *entries
	}
	list := l.state.resolved
	if state != nil {
		list = state.list(l.state)
	}
	entries := entriesOf[T](list)
	if !kept.CompareAndSwap(nil, entries) {
		entries = kept.Load()
	}
	return *entries
}

// valuesOf returns the values of list. Where list starts or ends as another one does, its values are copied from there.
func valuesOf[T any](list, other []*entry, known []T) []T {
	if len(list) == 0 {
		return nil
	}
	values := make([]T, len(list))
	head := 0
	for head < min(len(list), len(other)) && list[head] == other[head] {
		head++
	}
	copy(values, known[:head])
	tail := 0
	for tail < min(len(list), len(other))-head && list[len(list)-1-tail] == other[len(other)-1-tail] {
		tail++
	}
	copy(values[len(values)-tail:], known[len(known)-tail:])
	for i := head; i < len(list)-tail; i++ {
		values[i], _ = list[i].value.(T)
	}
	return values
}

func entriesOf[T any](list []*entry) *[]Entry[T] {
	entries := make([]Entry[T], len(list))
	for i, e := range list {
		entries[i].EntryInfo = e.info
		entries[i].Value, _ = e.value.(T)
	}
	return &entries
}
