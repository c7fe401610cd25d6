package generations

import (
	"context"
	"log/slog"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Call calls fn with the value behind r and returns its result. The call
//
//   - is refused with [contrib.ErrUnavailable] when the entry or the generation is revoked;
//   - has a context of its own: done when ctx is, at the deadline, or when the generation is told to stop (cause
//     [ErrStopping]). fn must not use it after it has returned;
//   - runs on a goroutine with the labels of the generation: on one of its own when the entry has a deadline, else on
//     the caller's, which has its own labels again afterwards;
//   - turns a panic into a [contrib.CallError] with cause panic. A goroutine of its own that fn ends counts as one;
//   - returns at the deadline with cause deadline, while fn keeps its lease until it has really returned. What it
//     returns then is dropped;
//   - returns the error of ctx when that is done: at once with a goroutine of its own, otherwise when fn gives up.
//
// An error of fn is logged, and what the caller gets is a CallError with cause error and a fixed text. Passed on as they
// are: what [Ref.Refuse] made, [contrib.ErrUnavailable], and the error of ctx. When the generation is stopping, giving
// up with a cancellation error is ErrUnavailable. With an error the result is the zero value.
//
// Variables that fn captures are moved to the heap, because it may outlive the call. Points without a deadline can avoid
// that with [CallHere].
func Call[T, R any](ctx context.Context, r *Ref[T], fn func(ctx context.Context, v T) (R, error)) (R, error) {
	return CallWithin(ctx, r, r.deadline, fn)
}

// CallWithin is [Call] with another deadline; zero means none.
func CallWithin[T, R any](ctx context.Context, r *Ref[T], d time.Duration, fn func(ctx context.Context, v T) (R, error)) (R, error) {
	if d <= 0 {
		return CallHere(ctx, r, fn)
	}
	return callApart(ctx, r, d, fn)
}

// CallHere is [Call] for points without a deadline: fn runs on the caller's goroutine whatever the entry says. fn does
// not escape, and a call allocates nothing as long as the caller's context stays the same and nobody else is inside the
// generation. runtime.Goexit in fn ends the goroutine of the caller, with lease and labels given back.
func CallHere[T, R any](ctx context.Context, r *Ref[T], fn func(ctx context.Context, v T) (R, error)) (out R, err error) {
	s := r.slot.Load()
	if s == nil {
		return out, contrib.ErrUnavailable
	}
	var v visit
	if !s.begin(ctx, &v) {
		return out, contrib.ErrUnavailable
	}
	defer r.end(&v, &err)
	out, err = fn(v.ctx, s.value)
	if err != nil {
		var zero R
		out, err = zero, r.settle(ctx, v.ctx, err)
	}
	v.returned = true
	return out, err
}

// apart is a call on a goroutine of its own: its context and its result. Nobody reads the result once the caller has left.
type apart[R any] struct {
	callContext
	done     chan struct{}
	out      R
	err      error
	returned bool
}

// callApart calls fn on a goroutine of its own. The gate waits for that goroutine.
func callApart[T, R any](ctx context.Context, r *Ref[T], d time.Duration, fn func(ctx context.Context, v T) (R, error)) (zero R, _ error) {
	s, in := r.enter()
	if s == nil {
		return zero, contrib.ErrUnavailable
	}
	if err := ctx.Err(); err != nil {
		r.gate.leave(in)
		return zero, err
	}
	o := &apart[R]{done: make(chan struct{})}
	now := time.Now()
	o.parent, o.core, o.deadline = ctx, s.core, now.Add(d)
	go func() {
		setGoroutineLabels(o.core.labels)
		defer r.endApart(in, &o.callContext, o.done, &o.err, &o.returned)
		o.out, o.err = fn(&o.callContext, s.value)
		if o.err != nil {
			o.err = r.settle(ctx, &o.callContext, o.err)
		}
		o.returned = true
	}()
	giveWay(now)
	select {
	case <-o.done:
	default:
		timer := s.core.timer(time.Until(o.deadline))
		select {
		case <-o.done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		s.core.timers.Put(timer)
	}
	select {
	case <-o.done: // it counts, even when it came at the same moment as one of the others
		if o.err != nil {
			return zero, o.err
		}
		return o.out, nil
	default:
	}
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	return zero, r.late()
}

// endApart is deferred for each call on a goroutine of its own.
func (e *entry) endApart(in *cell, c *callContext, done chan struct{}, err *error, returned *bool) {
	if p := recover(); p != nil {
		*err = e.panicked(p)
	} else if !*returned {
		*err = e.fail(contrib.CausePanic, slog.String("panic", "the code ended its goroutine"))
	}
	c.end()
	setGoroutineLabels(nil) // from here on it is the host's, and it is about to end
	close(done)
	e.gate.leave(in)
}
