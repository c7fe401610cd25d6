package contrib

import (
	"context"
	"errors"
	"fmt"
)

// Cause says how an entry failed.
type Cause string

// The causes of a failure.
const (
	CauseError    Cause = "error"
	CausePanic    Cause = "panic"
	CauseDeadline Cause = "deadline"
	CauseRefused  Cause = "refused"
)

// CallError is the failure of one entry. Its text is fixed: text of plugin code goes to the log file alone. The error
// of a built-in or module entry can be unwrapped.
type CallError struct {
	Cause  Cause
	Point  string
	Origin Origin
	Label  string
	Rule   string // for refused: which rule was broken

	err error
}

// Error returns the fixed text.
func (e *CallError) Error() string { return "Plugin operation failed." }

// Unwrap returns what an entry of the host itself returned; nil for a plugin's.
func (e *CallError) Unwrap() error { return e.err }

// Report receives the failure of one entry.
type Report func(e *EntryInfo, failure *CallError)

// Direction of a Fold.
type Direction bool

// The directions.
const (
	Forwards  Direction = false
	Backwards Direction = true
)

// FanOut runs every entry, one after another; failures are reported and skipped. Entries that are unavailable count as
// absent. It stops before the next entry when ctx is done and returns its error. FanOut needs a report; without one it
// runs nothing and returns an error.
func FanOut[T any](ctx context.Context, entries []Entry[T], call func(context.Context, T) error, report Report) error {
	if report == nil {
		return errors.New("contrib: fan-out without a report would lose failures")
	}
	w := walk{ctx: ctx, report: report}
	for i := range entries {
		stop, err := w.step(&entries[i].EntryInfo, func() error { return call(ctx, entries[i].Value) })
		if stop {
			return err
		}
	}
	return nil
}

// First returns the first answer, and whether there was one. A failure is reported and counts as no answer; with a nil
// report it is returned. First stops when ctx is done, as FanOut does.
func First[T, R any](
	ctx context.Context, entries []Entry[T], ask func(context.Context, T) (R, bool, error), report Report,
) (R, bool, error) {
	var none R
	w := walk{ctx: ctx, report: report}
	for i := range entries {
		var answer R
		var found bool
		stop, err := w.step(&entries[i].EntryInfo, func() (err error) {
			answer, found, err = ask(ctx, entries[i].Value)
			return err
		})
		switch {
		case stop:
			return none, false, err
		case found && !w.failed:
			return answer, true, nil
		}
	}
	return none, false, nil
}

// Last returns the value of the last entry, which has the highest order and, among equals, was added last; builtin when
// there is none.
func Last[T any](entries []Entry[T], builtin T) T {
	if len(entries) == 0 {
		return builtin
	}
	return entries[len(entries)-1].Value
}

// Fold turns state into the next state with each entry, in the given direction. A failed step keeps the state before
// it; with a nil report its failure is returned with that state. Fold stops when ctx is done, as FanOut does. step must
// not be able to change the state that it is given in place.
func Fold[T, S any](
	ctx context.Context, entries []Entry[T], state S, step func(context.Context, T, S) (S, error), report Report,
	d Direction,
) (S, error) {
	w := walk{ctx: ctx, report: report}
	for i := range entries {
		e := &entries[i]
		if d == Backwards {
			e = &entries[len(entries)-1-i]
		}
		var next S
		stop, err := w.step(&e.EntryInfo, func() (err error) {
			next, err = step(ctx, e.Value, state)
			return err
		})
		switch {
		case stop:
			return state, err
		case !w.failed:
			state = next
		}
	}
	return state, nil
}

// walk is one walk over entries.
type walk struct {
	ctx    context.Context
	report Report
	failed bool // the last entry failed or was unavailable
}

// step runs one entry. stop ends the walk with err.
func (w *walk) step(e *EntryInfo, f func() error) (stop bool, err error) {
	if err := w.ctx.Err(); err != nil {
		return true, err
	}
	failure, err := attempt(e, f)
	w.failed = err != nil
	switch {
	case err == nil, errors.Is(err, ErrRevoked):
		return false, nil
	case cancellation(err) && w.ctx.Err() != nil:
		return true, w.ctx.Err()
	case w.report == nil:
		return true, failure
	}
	w.report(e, failure)
	return false, nil
}

func cancellation(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// attempt runs f and turns an error or a panic of it into the failure of e.
func attempt(e *EntryInfo, f func() error) (*CallError, error) {
	cause, err := recovered(f)
	if err == nil {
		return nil, nil
	}
	return failureOf(e, cause, err), err
}

func recovered(f func() error) (cause Cause, err error) {
	defer func() {
		if p := recover(); p != nil {
			cause, err = CausePanic, fmt.Errorf("panic: %v", p)
		}
	}()
	return CauseError, f()
}

func failureOf(e *EntryInfo, cause Cause, err error) *CallError {
	// The failure of another entry, which this one asked, is an error of this one.
	if failure, ok := errors.AsType[*CallError](err); ok && failure.Origin == e.Origin {
		return failure
	}
	failure := &CallError{Cause: cause, Point: e.Point, Origin: e.Origin, Label: e.Label}
	if e.Origin.kind != kindPlugin {
		failure.err = err
	}
	return failure
}
