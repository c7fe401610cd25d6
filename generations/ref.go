package generations

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"

	"github.com/crystalkernel/crystal/contrib"
)

// Ref is a plugin's value as a guard may hold it: reachable through the gate only. The slot that holds the value
// belongs to the host, and the generation empties it when it stops. A reference that is kept longer keeps nothing of
// the plugin alive. All methods may be called from any goroutine.
type Ref[T any] struct {
	slot atomic.Pointer[slot[T]]
	entry
}

type slot[T any] struct {
	binding
	value T
}

// Bind moves value behind ref, which is what contrib handed to the guard. A guard may bind several values to one ref.
// A ref that is not made by a generation, or whose generation has stopped, gives a reference that is never available.
func Bind[T any](ref contrib.Ref, value T) *Ref[T] {
	own, ok := ref.(*reference)
	if !ok {
		closed := NewGate()
		closed.Close()
		e := entry{gate: closed, log: slog.New(slog.DiscardHandler)}
		if ref != nil {
			e.origin, e.point, e.label = ref.Origin(), ref.Point(), ref.Label()
		}
		return &Ref[T]{entry: e}
	}
	r := &Ref[T]{entry: own.entry}
	own.home.keep(own, func(b binding) { r.slot.Store(&slot[T]{binding: b, value: value}) }, remembered(r))
	return r
}

// BindBeside binds another value of the same entry, such as a client that the value behind r has made. A guard that lives on
// after its generation must not keep the [contrib.Ref] that it was given for that, because it leads to the generation.
func BindBeside[T, U any](r *Ref[T], value U) *Ref[U] {
	own := &Ref[U]{entry: r.entry}
	if s := r.slot.Load(); s != nil {
		s.home.keep(&reference{entry: r.entry, home: s.home, handle: s.handle},
			func(b binding) { own.slot.Store(&slot[U]{binding: b, value: value}) }, remembered(own))
	}
	return own
}

// Release lets go of the value for good: from here on calls are refused, as after a revocation. It is for what a guard
// bound for a while, such as a session. It is idempotent.
func (r *Ref[T]) Release() { r.empty() }

// empty lets go of the value.
func (r *Ref[T]) empty() { r.slot.Store(nil) }

// known is a reference as its generation knows it, which does not keep it: a guard that the host has dropped, such as that
// of a client of a thread that was closed, goes with its value.
type known[T any] struct{ ref weak.Pointer[Ref[T]] }

func remembered[T any](r *Ref[T]) known[T] { return known[T]{weak.Make(r)} }

func (k known[T]) empty() {
	if r := k.ref.Value(); r != nil {
		r.empty()
	}
}

// gone reports whether nobody has the reference any more, or it has no value, or the entry was revoked on its own.
func (k known[T]) gone() bool {
	r := k.ref.Value()
	if r == nil {
		return true
	}
	s := r.slot.Load()
	return s == nil || s.handle.ID() != 0 && !s.handle.Live()
}

// enter gives the slot with a place inside the gate, or nil when the call is refused.
func (r *Ref[T]) enter() (*slot[T], *cell) {
	s := r.slot.Load()
	if s == nil || !s.handle.Live() {
		return nil, nil
	}
	in := r.entry.gate.enter()
	if in == nil {
		return nil, nil
	}
	return s, in
}

// Origin returns who added the entry.
func (r *Ref[T]) Origin() contrib.Origin { return r.origin }

// Point returns the name of the entry's point.
func (r *Ref[T]) Point() string { return r.point }

// Label returns the entry's label.
func (r *Ref[T]) Label() string { return r.label }

// Deadline returns the time that one call may take; zero means that the caller's own context alone counts.
func (r *Ref[T]) Deadline() time.Duration { return r.deadline }

// Live reports whether a call would be admitted now.
func (r *Ref[T]) Live() bool {
	s := r.slot.Load()
	return s != nil && s.handle.Live() && !r.entry.gate.Closed()
}

// Hold enters the gate and returns the value with its place inside, for what outlives one call, such as a stream. The
// teardown waits until the caller has released it. Calling the value directly has none of the protection of Do: no
// labels, no context of its own, and its panics reach the caller. ok is false when the entry is unavailable.
func (r *Ref[T]) Hold() (held Held[T], ok bool) {
	s := r.slot.Load()
	if s == nil || !s.handle.Live() {
		return held, false
	}
	gate := s.binding.gate
	in := gate.near(unsafe.Pointer(&held))
	if in.word.Add(1) <= 0 {
		gate.leave(in)
		return held, false
	}
	return Held[T]{Value: s.value, gate: gate, cell: in}, true
}

// Held is a plugin's value with a lease. The zero Held holds nothing. It must not be copied once it is used.
type Held[T any] struct {
	Value T
	gate  *Gate
	cell  *cell
}

// Release ends the lease and lets go of the value. It is idempotent. A Held belongs to one goroutine at a time.
func (h *Held[T]) Release() {
	gate, in := h.gate, h.cell
	if gate == nil {
		return
	}
	*h = Held[T]{}
	if in.word.Add(-1) == closed {
		gate.drain(in)
	}
}

// Do is [Call] without a result.
func (r *Ref[T]) Do(ctx context.Context, fn func(ctx context.Context, v T) error) error {
	return r.DoWithin(ctx, r.deadline, fn)
}

// DoWithin is Do with another deadline; zero means none.
func (r *Ref[T]) DoWithin(ctx context.Context, d time.Duration, fn func(ctx context.Context, v T) error) error {
	if d <= 0 {
		return r.DoHere(ctx, fn)
	}
	_, err := callApart(ctx, r, d, func(ctx context.Context, v T) (struct{}, error) { return struct{}{}, fn(ctx, v) })
	return err
}

// DoHere is [CallHere] without a result.
func (r *Ref[T]) DoHere(ctx context.Context, fn func(ctx context.Context, v T) error) (err error) {
	s := r.slot.Load()
	if s == nil {
		return contrib.ErrUnavailable
	}
	var v visit
	if !s.begin(ctx, &v) {
		return contrib.ErrUnavailable
	}
	defer r.end(&v, &err)
	if err = fn(v.ctx, s.value); err != nil {
		err = r.settle(ctx, v.ctx, err)
	}
	v.returned = true
	return err
}

// Refuse logs and returns the failure of an entry that returned something its contract forbids; rule says which rule
// it broke. The rule is the host's text, never the plugin's.
func (r *Ref[T]) Refuse(rule string) *contrib.CallError {
	e := r.fail(contrib.CauseRefused, slog.String("rule", rule))
	e.Rule = rule
	return e
}

// Materialised gives the generation an object that the guard made for the host from what the plugin's value returned,
// and that the user may or may not close. The function returned is what the user closes it with. The object is closed
// once: by that, or by the generation when it stops, newest first. Call it while the plugin's code is still inside, in
// the function given to Do. The error is contrib.ErrUnavailable when the generation has let go already; then the guard
// closes the object itself.
func (r *Ref[T]) Materialised(closeIt func() error) (closeOnce func() error, err error) {
	s := r.slot.Load()
	if s == nil {
		return nil, contrib.ErrUnavailable
	}
	return s.home.materialise(r.entry, closeIt)
}
