package generations

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"sync"
)

// Lifetime owns the resources and the background work of one generation. The runtime makes it; a plugin's constructors
// ask for it. All methods may be called from any goroutine, from construction until the generation is told to stop;
// afterwards they answer [ErrStopping], and the caller keeps the object.
type Lifetime struct {
	core    *core
	onFault func(work string)

	mu       sync.Mutex
	stopping bool
	live     bool // committed: work starts at once
	owned    []resource
	known    map[any]struct{}
	queue    []work
	running  int
	idle     chan struct{} // closed when stopping and nothing runs
	faulted  bool
	fault    string // failure before the commit, told after it
	failed   []string
}

// resource is something to close.
type resource struct {
	name string
	do   func(context.Context) error
}

func newLifetime(c *core, onFault func(string)) *Lifetime {
	return &Lifetime{core: c, onFault: onFault, known: map[any]struct{}{}, idle: make(chan struct{})}
}

// Context is cancelled, with cause [ErrStopping], when the generation is told to stop. It has no other end.
func (l *Lifetime) Context() context.Context { return l.core.stop }

// Own closes closer when the generation is torn down, after its background work has ended; the newest is closed first.
// It accepts Close() error and Close(context.Context) error; the context is not done and has no deadline. The error is
// [ErrNotClosable], [ErrOwnedTwice] or [ErrStopping].
func (l *Lifetime) Own(closer any) error {
	if isNil(closer) {
		return fmt.Errorf("%w: nil", ErrNotClosable)
	}
	r := resource{name: fmt.Sprintf("%T", closer)}
	switch c := closer.(type) {
	case io.Closer:
		r.do = func(context.Context) error { return c.Close() }
	case interface{ Close(context.Context) error }:
		r.do = c.Close
	default:
		return fmt.Errorf("%w: %T has no Close() error or Close(context.Context) error", ErrNotClosable, closer)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return ErrStopping
	}
	if id, ok := identity(closer); ok {
		if _, twice := l.known[id]; twice {
			return fmt.Errorf("%w: %T", ErrOwnedTwice, closer)
		}
		l.known[id] = struct{}{}
	}
	l.owned = append(l.owned, r)
	return nil
}

// OnClose is [Lifetime.Own] for a function. The name appears in reports.
func (l *Lifetime) OnClose(name string, fn func(context.Context) error) error {
	if fn == nil {
		return fmt.Errorf("%w: nil function %q", ErrNotClosable, name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return ErrStopping
	}
	l.owned = append(l.owned, resource{name: name, do: fn})
	return nil
}

// owns reports whether value was given to Own.
func (l *Lifetime) owns(value any) bool {
	id, ok := identity(value)
	if !ok {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok = l.known[id]
	return ok
}

// signal refuses further objects and work, and cancels the context.
func (l *Lifetime) signal() {
	l.mu.Lock()
	if !l.stopping {
		l.stopping = true
		l.queue = nil
		if l.running == 0 {
			close(l.idle)
		}
	}
	l.mu.Unlock()
	l.core.signal()
}

// close closes what is owned, newest first, and reports the names of what failed.
func (l *Lifetime) close() (failed []string) {
	l.mu.Lock()
	owned := l.owned
	l.owned, l.known = nil, nil
	l.mu.Unlock()
	for i := len(owned) - 1; i >= 0; i-- {
		if l.core.contain("close", func() error { return owned[i].do(l.core.base) }) != nil {
			failed = append(failed, owned[i].name)
		}
		owned[i] = resource{}
	}
	return failed
}

// isNil reports whether v is nil or holds a nil.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice, reflect.UnsafePointer:
		return r.IsNil()
	default:
		return false
	}
}

// identity gives a key under which v can be recognised. Values without one, such as functions, and those that all look
// the same, such as pointers to empty structs, cannot.
func identity(v any) (any, bool) {
	r := reflect.ValueOf(v)
	if !r.IsValid() || !r.Comparable() || r.Type().Size() == 0 {
		return nil, false
	}
	if r.Kind() == reflect.Pointer && r.Type().Elem().Size() == 0 {
		return nil, false
	}
	return v, true
}
