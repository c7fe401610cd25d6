package generations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
	"unsafe"

	"github.com/crystalkernel/crystal/contrib"
)

// root is what everything that plugin code is given leads to. The host gives up its own references at the end of a
// teardown, so a root that stays is held by plugin code. It is an allocation of its own, above the size that the
// runtime packs together, and has pointers.
type root struct{ plugin, generation string }

// rootKey is the context key of a root.
type rootKey struct{}

// core is what calls into one generation share.
type core struct {
	root       *root
	plugin, id string
	origin     contrib.Origin
	labels     unsafe.Pointer
	base       context.Context // labels and root, never done
	stop       context.Context // base, done when told to stop
	cancel     context.CancelCauseFunc
	gate       *Gate
	log        *slog.Logger
	timers     sync.Pool // stopped timers: a call with a deadline needs one for a moment
}

// timer returns a timer that runs for d. Once it is stopped it goes back to timers.
func (c *core) timer(d time.Duration) *time.Timer {
	if t, ok := c.timers.Get().(*time.Timer); ok {
		t.Reset(d)
		return t
	}
	return time.NewTimer(d)
}

func newCore(o contrib.Origin, log *slog.Logger) *core {
	plugin, id := o.ID(), o.Generation()
	c := &core{root: &root{plugin, id}, plugin: plugin, id: id, origin: o, gate: NewGate(), log: log}
	c.base, c.labels = labelled(plugin, id)
	c.base = context.WithValue(c.base, rootKey{}, c.root)
	c.stop, c.cancel = context.WithCancelCause(c.base)
	return c
}

// signal tells plugin code to stop. What its contexts start by that carries the labels.
func (c *core) signal() {
	was := goroutineLabels()
	defer setGoroutineLabels(was)
	setGoroutineLabels(c.labels)
	c.cancel(ErrStopping)
}

// errPanic stands for a panic, or for a goroutine that plugin code ended, when there is no error of the plugin's own.
var errPanic = errors.New("generations: plugin code panicked")

// contain runs plugin code on a goroutine of its own and waits for it. A panic and runtime.Goexit become errPanic.
// The failure is logged under what.
func (c *core) contain(what string, f func() error) (err error) {
	done := make(chan struct{})
	go func() {
		setGoroutineLabels(c.labels)
		defer close(done)
		defer setGoroutineLabels(nil) // what follows is the host
		c.guard(what, f, &err)
	}()
	<-done
	return err
}

// inline is contain on the goroutine of the caller, which carries the labels already, and which runtime.Goexit ends.
func (c *core) inline(what string, f func() error) (err error) {
	c.guard(what, f, &err)
	return err
}

// guard runs f. It leaves the error in err, because a goroutine that ends returns nothing.
func (c *core) guard(what string, f func() error, err *error) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			*err = errPanic
			c.log.Error("plugin code panicked", c.attrs(what, panicAttrs(p)...)...)
		} else if !returned {
			*err = errPanic
			c.log.Error("plugin code ended its goroutine", c.attrs(what)...)
		}
	}()
	if *err = f(); *err != nil {
		c.log.Error("plugin code failed", c.attrs(what, errorAttr(*err))...)
	}
	returned = true
}

// panicAttrs describes a panic for the log file. It is called by the deferred function that recovered it.
func panicAttrs(p any) []any {
	return []any{slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack()))}
}

func (c *core) attrs(what string, more ...any) []any {
	return append([]any{slog.String("plugin", c.plugin), slog.String("generation", c.id), slog.String("step", what)}, more...)
}

// isCancellation reports whether plugin code gave up because its context was done.
func isCancellation(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrStopping)
}
