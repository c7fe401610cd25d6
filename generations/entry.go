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
	home   *home
	core   *core
}

// visit is one call that is inside.
type visit struct {
	core *core
	ctx  *callContext
	nth  int64          // how many were inside when it came
	was  unsafe.Pointer // the labels of the goroutine before
}

// begin starts a visit that entered as the nth on the goroutine of the caller.
func (b *binding) begin(ctx context.Context, nth int64) visit {
	v := visit{core: b.core, nth: nth, was: goroutineLabels()}
	if v.was != v.core.labels {
		setGoroutineLabels(v.core.labels)
	}
	v.ctx = v.core.enterContext(ctx, nth)
	return v
}

// end is deferred for each visit on the goroutine of the caller.
func (e *entry) end(v *visit, err *error) {
	if p := recover(); p != nil {
		*err = e.panicked(p)
	}
	v.core.exitContext(v.ctx, v.nth)
	if v.was != v.core.labels || goroutineLabels() != v.was {
		setGoroutineLabels(v.was)
	}
	e.gate.leave()
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
