package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/points/thread"
)

// ErrBusy is returned by Compact while a turn runs.
var ErrBusy = errors.New("kernel: a turn of the thread is running")

// Compact compacts the thread by hand; hint says what to keep in mind, and may be blank. Events go to emit, which may be
// nil, on the caller's goroutine. A thread with nothing earlier than its last turn comes back with compaction.Nothing, and
// no request is made. Input that comes meanwhile is handled afterwards.
//
// The error is ErrBusy while a turn runs, ErrThreadClosed, that of an unknown model or of a log that cannot be written, or
// that of ctx. A summary that could not be had is no error: the outcome and a note say so.
func (t *Thread) Compact(ctx context.Context, hint string, emit func(Event)) (compaction.Outcome, error) {
	select {
	case t.busy <- struct{}{}:
	default:
		return compaction.Outcome{}, ErrBusy
	}
	defer t.leave()
	r := t.turn
	r.reset()
	defer r.reset()
	t.mu.Lock()
	closed := t.closed
	r.mode, r.ref = t.mode, t.model
	t.mu.Unlock()
	if closed {
		return compaction.Outcome{}, ErrThreadClosed
	}
	r.emit = emit
	r.limits = t.kernel.config.Limits.or(defaultLimits)
	ctx, cancel := r.context(ctx)
	defer cancel()
	defer t.interruptible(nil)
	outcome, err := r.compactByHand(ctx, hint)
	r.flush()
	if err != nil {
		return outcome, fmt.Errorf("kernel: compact thread %s: %w", t.id, err)
	}
	return outcome, nil
}

func (t *turn) compactByHand(ctx context.Context, hint string) (compaction.Outcome, error) {
	if err := t.plan.prepareClient(ctx, t); err != nil {
		return compaction.Outcome{}, err
	}
	if err := t.prepare(ctx); err != nil {
		return compaction.Outcome{}, err
	}
	t.kernel.signal(thread.MaintenanceCompactingStarted, t.thread, "", "")
	defer t.kernel.signal(thread.MaintenanceCompleted, t.thread, "", "")
	return t.compact(ctx, compaction.ByHand, hint, "")
}
