package contrib

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// maxProbes is how many slots with other ids the cheap hash may make a search look at, on the average. Ids that are
// worse are hashed in full.
const maxProbes = 1

// table finds what a thread sees. It is an open-addressing table, at most half full, made for reads that take a few
// instructions: Go's own map costs several times as much. The zero table has no thread.
type table[T any] struct {
	slots []slot[T] // a power of two of them
	cheap []slot[T] // the same while full is false, else none
	full  bool      // hash the whole id, because the cheap hash does not tell these ids apart
	seed  maphash.Seed
}

// slot holds the lists of one thread, each computed once. An empty slot has a blank id.
type slot[T any] struct {
	id      ThreadID
	eager   []T // what values has, when it was computed at the publication: one load nearer
	values  atomic.Pointer[[]T]
	entries atomic.Pointer[[]Entry[T]]
	state   *threadState
}

func newTable[T any](threads []*threadState) table[T] {
	var t table[T]
	if len(threads) == 0 {
		return t
	}
	for size := 1 << bits.Len(uint(2*len(threads)-1)); ; t.full = true {
		t.slots = make([]slot[T], size)
		if t.full {
			t.seed = maphash.MakeSeed()
		}
		if t.fill(threads) {
			if !t.full {
				t.cheap = t.slots
			}
			return t
		}
	}
}

// fill puts the threads into empty slots. It gives up when the cheap hash makes searches too long.
func (t *table[T]) fill(threads []*threadState) bool {
	probes := 0
	for _, state := range threads {
		i := t.hash(state.id)
		for ; t.at(i).id != ""; probes++ {
			i++
		}
		if probes > maxProbes*len(threads) && !t.full {
			return false
		}
		t.at(i).id, t.at(i).state = state.id, state
	}
	return true
}

// at is the slot for a hash; the slots form a ring.
func (t *table[T]) at(hash uint64) *slot[T] { return &t.slots[hash&uint64(len(t.slots)-1)] }

// find returns the slot of a thread, or nil.
func (t *table[T]) find(id ThreadID) *slot[T] {
	if len(t.slots) == 0 {
		return nil
	}
	for i := t.hash(id); ; i++ {
		s := t.at(i)
		if s.id == id {
			return s
		}
		if s.id == "" {
			return nil
		}
	}
}

func (t *table[T]) hash(id ThreadID) uint64 {
	switch {
	case t.full:
		return maphash.String(t.seed, string(id))
	case len(id) >= 8:
		return mix(last8(id))
	default:
		var x uint64
		for i := range len(id) {
			x = x<<8 | uint64(id[i])
		}
		return mix(x)
	}
}

// last8 is the last eight bytes of a long id: those that differ the most in counted, random and time-ordered ids.
func last8(id ThreadID) uint64 {
	s := id[len(id)-8:]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// mix spreads the bits of x; the useful ones end up low.
func mix(x uint64) uint64 { return x * 0x9e3779b97f4a7c15 >> 32 }
