package contrib

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Registry holds the entries of all admitted points of one host: one immutable state behind one pointer. Make one with
// [New]. Every method may be called from any goroutine; readers never wait for writers.
type Registry struct {
	view     atomic.Pointer[View]
	points   []AnyPoint    // sorted by name
	admitted []*definition // by number
	builtin  *Registrar
	notices  notices

	mu       sync.Mutex // held by writers; never while code of others runs
	last     uint64     // the last id that was assigned
	closed   bool
	stagings map[*Staging]struct{} // not committed yet
}

// New makes a registry that admits points. Two points with one name are an error. Points cannot be admitted later.
func New(points ...AnyPoint) (*Registry, error) {
	r := &Registry{points: slices.Clone(points), stagings: map[*Staging]struct{}{}}
	names := map[string]bool{}
	for _, p := range points {
		if p == nil || p.defined() == nil {
			return nil, errors.New("contrib: a point of the registry was not made with Define")
		}
		d := p.defined()
		if names[d.info.Name] {
			return nil, fmt.Errorf("contrib: the registry is given two points with the name %s", d.info.Name)
		}
		names[d.info.Name] = true
		if missing := d.number + 1 - len(r.admitted); missing > 0 {
			r.admitted = append(r.admitted, make([]*definition, missing)...)
		}
		r.admitted[d.number] = d
	}
	slices.SortFunc(r.points, func(a, b AnyPoint) int { return cmp.Compare(a.Name(), b.Name()) })
	r.view.Store(&View{lists: make([]unsafe.Pointer, len(r.admitted)), points: make([]*pointState, len(r.admitted))})
	r.builtin = &Registrar{owner: newOwner(r, nil, Builtin())}
	return r, nil
}

// View returns the newest view.
func (r *Registry) View() *View { return r.view.Load() }

// Points returns the admitted points, sorted by name. The caller owns the result.
func (r *Registry) Points() []AnyPoint { return slices.Clone(r.points) }

// Builtin returns the registrar with origin builtin.
func (r *Registry) Builtin() *Registrar { return r.builtin }

// admits reports whether the registry was made with the point.
func (r *Registry) admits(d *definition) bool {
	return d != nil && d.number < len(r.admitted) && r.admitted[d.number] == d
}

// ReleaseThread revokes every entry that is scoped to the thread, over all points, newest first, in one publication,
// and returns how many there were. Entries staged for the thread are cancelled and not counted. A thread without
// entries gives 0; a blank id is an error that is [ErrInvalidScope].
func (r *Registry) ReleaseThread(id ThreadID) (int, error) {
	if err := releasable(id); err != nil {
		return 0, err
	}
	return r.change(op{kind: opRelease, thread: id})
}

func releasable(id ThreadID) error {
	if strings.TrimSpace(string(id)) == "" {
		return fmt.Errorf("%w: a thread with a blank id cannot be released", ErrInvalidScope)
	}
	return nil
}

// ReleaseHolds releases the holds of a plugin: the operator disabled or removed it, or revoked its trust.
func (r *Registry) ReleaseHolds(pluginID string) {
	_, _ = r.change(op{kind: opUnhold, plugin: pluginID})
}

// Close releases all holds and refuses further adds with [ErrClosed]. Entries stand until their registrars are closed.
// Closing again changes nothing.
func (r *Registry) Close() {
	r.mu.Lock()
	if !r.closed {
		d := newDraft(r, r.View())
		d.unhold(func(*hold) bool { return true })
		r.publish(d)
		r.closed = true
	}
	r.mu.Unlock()
	r.notices.deliver(r)
}
