package dispatcher

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
)

// fold is [contrib.Fold] forwards, with steps that are told which entry they ask: so they can refuse what it returned.
func fold[T, S any](
	ctx context.Context, entries []contrib.Entry[T], state S,
	step func(context.Context, T, S, *contrib.EntryInfo) (S, error), report contrib.Report,
) (S, error) {
	for i := range entries {
		e := &entries[i].EntryInfo
		var err error
		state, err = contrib.Fold(ctx, entries[i:i+1], state, func(ctx context.Context, v T, s S) (S, error) {
			return step(ctx, v, s, e)
		}, report, contrib.Forwards)
		if err != nil {
			return state, err
		}
	}
	return state, nil
}

// first is [contrib.First] in the same manner.
func first[T, R any](
	ctx context.Context, entries []contrib.Entry[T],
	ask func(context.Context, T, *contrib.EntryInfo) (R, bool, error), report contrib.Report,
) (answer R, ok bool, err error) {
	for i := range entries {
		e := &entries[i].EntryInfo
		answer, ok, err = contrib.First(ctx, entries[i:i+1], func(ctx context.Context, v T) (R, bool, error) {
			return ask(ctx, v, e)
		}, report)
		if ok || err != nil {
			return answer, ok, err
		}
	}
	return answer, false, nil
}

// refusal is the failure of an entry that returned what its contract forbids.
func refusal(e *contrib.EntryInfo, rule string) error {
	return &contrib.CallError{Cause: contrib.CauseRefused, Point: e.Point, Origin: e.Origin, Label: e.Label, Rule: rule}
}
