package generations

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// callContext is the context of one call into plugin code. It is done when the caller's is done, at the deadline, when
// the generation is told to stop (cause ErrStopping), and, if somebody watches it, when the call is over.
//
// Most plugin code never asks for Done. So the standard contexts that do the work are made when it is asked for.
type callContext struct {
	parent   context.Context
	core     *core
	deadline time.Time // zero: none
	mu       sync.Mutex
	over     atomic.Bool
	watched  atomic.Pointer[watchedContext]
}

// watchedContext is the standard context behind a callContext that somebody waits for.
type watchedContext struct {
	context.Context
	end func()
}

// A call that is alone in its cell of the gate may use the context of its predecessor when the caller's context is the same, which is
// how a call without a deadline allocates nothing. That predecessor has returned, and the gate's counter orders its
// accesses before ours; there can be one such call at a time.

// freshContext makes the context of a call that is the nth in a cell, and keeps it for the next one if that may be.
func (c *core) freshContext(parent context.Context, in *cell, nth int64) *callContext {
	cc := &callContext{parent: parent, core: c}
	// A context that comes from plugin code keeps a root, and must not be kept by this generation.
	if nth == 1 && parent.Value(rootKey{}) == nil {
		in.last = cc
	}
	return cc
}

// exitContext ends the context of a call that has returned.
func exitContext(in *cell, nth int64, cc *callContext) {
	if nth == 1 && in.last == cc {
		in.last = nil
	}
	cc.end()
}

// sameContext reports whether a and b are the same value. It compares the two words of the interfaces, because
// comparing the values would panic for a context of a type that is not comparable.
func sameContext(a, b context.Context) bool {
	type words struct{ kind, data unsafe.Pointer }
	v, w := (*words)(unsafe.Pointer(&a)), (*words)(unsafe.Pointer(&b))
	return v.data == w.data && v.kind == w.kind
}

// watch makes the standard contexts.
func (c *callContext) watch() *watchedContext {
	if w := c.watched.Load(); w != nil {
		return w
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.watched.Load(); w != nil {
		return w
	}
	ctx, cancel := context.WithCancelCause(c.parent)
	w := &watchedContext{Context: ctx, end: func() { cancel(nil) }}
	if !c.deadline.IsZero() {
		timed, cancelTimed := context.WithDeadline(ctx, c.deadline)
		w.Context = timed
		w.end = func() { cancelTimed(); cancel(nil) }
	}
	switch {
	case c.over.Load():
		w.end()
	case c.core.stop.Err() != nil:
		cancel(ErrStopping)
	default:
		forget := context.AfterFunc(c.core.stop, func() { cancel(ErrStopping) })
		end := w.end
		w.end = func() { forget(); end() }
	}
	c.watched.Store(w)
	return w
}

// end is called when the call is over.
func (c *callContext) end() {
	c.mu.Lock()
	c.over.Store(true)
	w := c.watched.Load()
	c.mu.Unlock()
	if w != nil {
		w.end()
	}
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) {
	d, ok := c.parent.Deadline()
	if c.deadline.IsZero() || ok && d.Before(c.deadline) {
		return d, ok
	}
	return c.deadline, true
}

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} { return c.watch().Done() }

// Err implements context.Context.
func (c *callContext) Err() error {
	if w := c.watched.Load(); w != nil {
		return w.Err()
	}
	if !c.over.Load() && c.parent.Err() == nil && c.core.stop.Err() == nil && (c.deadline.IsZero() || time.Now().Before(c.deadline)) {
		return nil
	}
	return c.watch().Err() // from here on the answer, and its cause, stay what they are
}

// Value implements context.Context. The labels and the root come from the generation, all else from the caller. The
// root has to come from here too for what context.Cause looks up.
func (c *callContext) Value(key any) any {
	if v := c.core.base.Value(key); v != nil {
		return v
	}
	w := c.watched.Load()
	if w == nil && c.core.stop.Err() != nil {
		w = c.watch() // the cause is asked for through Value
	}
	if w != nil {
		return w.Value(key)
	}
	return c.parent.Value(key)
}

// String says whose call it is.
func (c *callContext) String() string {
	return fmt.Sprintf("generations.call(%s)", name(c.core.plugin, c.core.id))
}
