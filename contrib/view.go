package contrib

import "unsafe"

// View is every point at one instant. It never changes: a reader may keep it, and the lists it gave, for as long as it
// likes. The zero View is empty.
type View struct {
	version uint64
	// Both are indexed by the number of a point. lists holds a *lists[T], or nil for a point without entries; a point has
	// one T for ever, so that the type is not looked at again for each read.
	lists  []unsafe.Pointer
	points []*pointState
}

// Version is the registry's version: it rises by one with each publication.
func (v *View) Version() uint64 {
	if v == nil {
		return 0
	}
	return v.version
}

// unused is the state of a point that nothing was published on.
var unused = &pointState{}

func (v *View) state(d *definition) *pointState {
	if v == nil || d == nil || d.number >= len(v.points) || v.points[d.number] == nil {
		return unused
	}
	return v.points[d.number]
}
