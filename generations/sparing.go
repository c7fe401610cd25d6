package generations

import (
	"context"
	"sync/atomic"

	"github.com/crystalkernel/crystal/contrib"
)

// Sparing is a [Ref] that is not called again while an earlier call has been given up on, at its deadline or because its
// caller left, and has not returned: such a call is answered at once with [contrib.ErrUnavailable]. Calls that overlap in
// good time are no obstacle to each other. It is safe for use by several goroutines.
type Sparing[T any] struct {
	ref  *Ref[T]
	late atomic.Int32 // calls that nobody waits for any more
}

// BindSparing is [Bind] for a Sparing.
func BindSparing[T any](ref contrib.Ref, value T) *Sparing[T] {
	return &Sparing[T]{ref: Bind(ref, value)}
}

// CallSparing is [Call] for a Sparing.
func CallSparing[T, R any](ctx context.Context, s *Sparing[T], fn func(ctx context.Context, v T) (R, error)) (R, error) {
	if s.late.Load() > 0 {
		var none R
		return none, contrib.ErrUnavailable
	}
	var state atomic.Int32
	out, err := Call(ctx, s.ref, func(ctx context.Context, v T) (R, error) {
		if !state.CompareAndSwap(notBegun, inside) {
			s.late.Add(1)
		}
		defer func() {
			if !state.CompareAndSwap(inside, returned) {
				s.late.Add(-1)
			}
		}()
		return fn(ctx, v)
	})
	if err != nil && state.Swap(abandoned) == inside {
		s.late.Add(1)
	}
	return out, err
}

// The states of a call: it and its caller tell each other who left first.
const (
	notBegun = iota
	inside
	returned
	abandoned // by its caller
)

// Do is CallSparing for a call without a result.
func (s *Sparing[T]) Do(ctx context.Context, fn func(ctx context.Context, v T) error) error {
	_, err := CallSparing(ctx, s, func(ctx context.Context, v T) (struct{}, error) { return struct{}{}, fn(ctx, v) })
	return err
}
