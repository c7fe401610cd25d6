package contrib

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// longestProbe is how many slots the cheap hash may make a search look at. Ids that are worse are hashed in full.
const longestProbe = 6

// table finds what a thread sees. It is an open-addressing table, at most half full, made for reads that take a few
// instructions: Go's own map costs several times as much.
type table[T any] struct {
	slots []slot[T] // a power of two of them
	shift uint
	full  bool // hash the whole id, because the cheap hash does not tell these ids apart
	seed  maphash.Seed
}

// slot holds the lists of one thread, each computed once. An empty slot has a blank id.
type slot[T any] struct {
	id      ThreadID
	values  atomic.Pointer[[]T]
	entries atomic.Pointer[[]Entry[T]]
	state   *threadState
}

func newTable[T any](threads []*threadState) *table[T] {
	t := &table[T]{}
	for size := 1 << bits.Len(uint(2*len(threads)-1)); ; t.full = true {
		t.slots = make([]slot[T], size)
		t.shift = uint(64 - bits.TrailingZeros(uint(size)))
		if t.full {
			t.seed = maphash.MakeSeed()
		}
		if t.fill(threads) {
			return t
		}
	}
}

// fill puts the threads into empty slots. It gives up when the cheap hash makes a search too long.
func (t *table[T]) fill(threads []*threadState) bool {
	for _, state := range threads {
		i, probe := t.start(state.id), 0
		for ; t.slots[i].id != ""; probe++ {
			i = (i + 1) & (len(t.slots) - 1)
		}
		if probe > longestProbe && !t.full {
			return false
		}
		t.slots[i].id, t.slots[i].state = state.id, state
	}
	return true
}

// find returns the slot of a thread, or nil.
func (t *table[T]) find(id ThreadID) *slot[T] {
	if t == nil {
		return nil
	}
	for i := t.start(id); ; i++ {
		s := &t.slots[i&(len(t.slots)-1)]
		if s.id == id {
			return s
		}
		if s.id == "" {
			return nil
		}
	}
}

// start is the first slot to look at for id.
func (t *table[T]) start(id ThreadID) int {
	if t.full {
		return int(maphash.String(t.seed, string(id)) >> t.shift)
	}
	return int(ends(id) * 0x9e3779b97f4a7c15 >> t.shift)
}

// ends folds the last eight bytes of a long id, which differ the most in counted, random and time-ordered ids, or the
// whole of a short one.
func ends(id ThreadID) uint64 {
	n := len(id)
	switch {
	case n >= 8:
		s := id[n-8:]
		return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	case n >= 4:
		a, z := id[:4], id[n-4:]
		return uint64(a[0]) | uint64(a[1])<<8 | uint64(a[2])<<16 | uint64(a[3])<<24 |
			uint64(z[0])<<32 | uint64(z[1])<<40 | uint64(z[2])<<48 | uint64(z[3])<<56
	case n > 0:
		return uint64(id[0]) | uint64(id[n/2])<<8 | uint64(id[n-1])<<16
	default:
		return 0
	}
}
