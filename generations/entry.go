package generations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
	"unsafe"

	"github.com/crystalkernel/crystal/contrib"
)

// entry is what a reference knows without its generation. It holds nothing of the plugin.
type entry struct {
	gate     *Gate
	origin   contrib.Origin
	point    string
	label    string
	deadline time.Duration
	log      *slog.Logger
}

// binding is what a reference holds of its generation until that stops.
type binding struct {
	handle *contrib.Handle
	gate   *Gate // of core; here it is one load nearer
	core   *core
	home   *home
}

// visit is one call that is inside, on the goroutine of the caller.
type visit struct {
	core     *core
	ctx      *callContext
	cell     *cell          // of the gate
	nth      int64          // how many were in the cell when it came
	was      unsafe.Pointer // the labels of the goroutine before
	returned bool           // the code has returned, rather than panicked
}

// begin enters the gate, sets labels and context, and reports whether the call was let in. It fills v in place: copying
// it would cost more than all the rest, because it is read again before its stores have settled.
func (b *binding) begin(ctx context.Context, v *visit) bool {
	if !b.handle.Live() {
		return false
	}
	in := b.gate.near(unsafe.Pointer(v))
	n := in.word.Add(1)
	if n <= 0 {
		b.gate.leave(in)
		return false
	}
	c := b.core
	v.core, v.cell, v.nth = c, in, n
	was := goroutineLabels()
	v.was = was
	if was != c.labels {
		setGoroutineLabels(c.labels)
	}
	// Only a call that is alone may look at last: another one could be changing it.
	if n == 1 {
		if last := in.last; last != nil && sameContext(last.parent, ctx) {
			v.ctx = last
			return true
		}
	}
	v.ctx = c.freshContext(ctx, in, n)
	return true
}

// end is deferred for each visit.
func (e *entry) end(v *visit, err *error) {
	if !v.returned {
		if p := recover(); p != nil {
			*err = e.panicked(p)
		}
	}
	in := v.cell
	if v.nth != 1 || in.last != v.ctx || v.ctx.watched.Load() != nil {
		exitContext(in, v.nth, v.ctx)
	}
	setGoroutineLabels(v.was)
	if in.word.Add(-1) == closed {
		e.gate.drain(in)
	}
}

// settle turns the error of plugin code into what the caller gets. It runs inside the gate, because errors are code.
func (e *entry) settle(caller context.Context, c *callContext, err error) error {
	var call *contrib.CallError
	switch {
	case errors.As(err, &call) && call != nil && call.Origin == e.origin:
		return call
	case caller.Err() != nil && (isCancellation(err) || errors.Is(err, context.Cause(caller))):
		return caller.Err()
	case errors.Is(err, contrib.ErrUnavailable), c.core.stop.Err() != nil && isCancellation(err):
		return contrib.ErrUnavailable
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline) && isCancellation(err):
		return e.late()
	}
	return e.fail(contrib.CauseError, slog.String("error", fmt.Sprint(err)))
}

func (e *entry) panicked(p any) error {
	return e.fail(contrib.CausePanic, panicAttrs(p)...)
}

func (e *entry) late() error { return e.fail(contrib.CauseDeadline) }

// fail logs a failure and makes the error with the fixed text that stands for it.
func (e *entry) fail(cause contrib.Cause, more ...any) *contrib.CallError {
	attrs := append([]any{
		slog.String("plugin", e.origin.ID()),
		slog.String("generation", e.origin.Generation()),
		slog.String("point", e.point),
		slog.String("label", e.label),
		slog.String("cause", string(cause)),
	}, more...)
	e.log.Warn("plugin call failed", attrs...)
	return &contrib.CallError{Cause: cause, Point: e.point, Origin: e.origin, Label: e.label}
}
