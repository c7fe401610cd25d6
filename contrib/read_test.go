package contrib_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

// entriesOf makes entries of words; those that start with p: are a plugin's.
func entriesOf(t *testing.T, words ...string) []contrib.Entry[thing] {
	entries := make([]contrib.Entry[thing], 0, len(words))
	for i, name := range words {
		origin := contrib.Builtin()
		if name[0] == 'p' {
			origin = plugin(t, "acme.a", "g1")
		}
		info := contrib.EntryInfo{ID: uint64(i + 1), Origin: origin, Point: "test.p", Label: name}
		entries = append(entries, contrib.Entry[thing]{EntryInfo: info, Value: word(name)})
	}
	return entries
}

// act does what the name of an entry says.
func act(t *testing.T, log *journal) func(context.Context, thing) error {
	return func(_ context.Context, v thing) error {
		log.add(v.Name())
		switch v.Name() {
		case "error", "p-error":
			return errNo
		case "panic":
			panic(errNo)
		case "gone":
			return contrib.ErrUnavailable
		case "cancelled":
			return context.Canceled
		case "p-refused":
			return &contrib.CallError{Cause: contrib.CauseRefused, Origin: plugin(t, "acme.a", "g1"), Rule: "rule"}
		}
		return nil
	}
}

type failures []string

func (f *failures) report(e *contrib.EntryInfo, failure *contrib.CallError) {
	*f = append(*f, e.Label+":"+string(failure.Cause)+":"+failure.Rule)
}

func TestFanOutRunsEveryEntry(t *testing.T) {
	log, reported := &journal{}, failures{}
	entries := entriesOf(t, "a", "error", "panic", "gone", "cancelled", "p-refused", "b")
	require.NoError(t, contrib.FanOut(t.Context(), entries, act(t, log), reported.report))
	assert.Equal(t, []string{"a", "error", "panic", "gone", "cancelled", "p-refused", "b"}, log.all())
	assert.Equal(t, failures{"error:error:", "panic:panic:", "cancelled:error:", "p-refused:refused:rule"}, reported)
	require.NoError(t, contrib.FanOut(t.Context(), nil, act(t, log), reported.report))
	require.Error(t, contrib.FanOut(t.Context(), entries, act(t, log), nil), "it always needs a report")
	assert.Len(t, log.all(), 7)
}

func TestWalksStopWhenTheCallerIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log, reported := &journal{}, failures{}
	call := func(_ context.Context, v thing) error {
		log.add(v.Name())
		if v.Name() == "stop" {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	entries := entriesOf(t, "a", "stop", "b")
	require.ErrorIs(t, contrib.FanOut(ctx, entries, call, reported.report), context.Canceled)
	assert.Equal(t, []string{"a", "stop"}, log.all())
	assert.Empty(t, reported)
	_, _, err := contrib.First(ctx, entries, func(context.Context, thing) (int, bool, error) { return 1, true, nil }, nil)
	require.ErrorIs(t, err, context.Canceled)
	state, err := contrib.Fold(ctx, entries, 7, func(context.Context, thing, int) (int, error) { return 0, nil }, nil, contrib.Forwards)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 7, state)
}

func TestFirstAnswer(t *testing.T) {
	log, reported := &journal{}, failures{}
	do := act(t, log)
	ask := func(ctx context.Context, v thing) (string, bool, error) {
		err := do(ctx, v)
		return v.Name(), v.Name() != "nothing", err
	}
	answer, ok, err := contrib.First(t.Context(), entriesOf(t, "nothing", "gone", "error", "yes", "late"), ask, reported.report)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "yes", answer)
	assert.Equal(t, []string{"nothing", "gone", "error", "yes"}, log.all())
	assert.Equal(t, failures{"error:error:"}, reported)
	answer, ok, err = contrib.First(t.Context(), entriesOf(t, "nothing"), ask, nil)
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Empty(t, answer)
}

func TestWithoutAReportTheFirstFailureIsReturned(t *testing.T) {
	log := &journal{}
	do := act(t, log)
	ask := func(ctx context.Context, v thing) (int, bool, error) { return 0, false, do(ctx, v) }
	_, _, err := contrib.First(t.Context(), entriesOf(t, "a", "panic", "b"), ask, nil)
	var failure *contrib.CallError
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, contrib.CausePanic, failure.Cause)
	assert.Equal(t, "test.p", failure.Point)
	assert.Equal(t, []string{"a", "panic"}, log.all())

	step := func(ctx context.Context, v thing, n int) (int, error) { return n + 1, do(ctx, v) }
	state, err := contrib.Fold(t.Context(), entriesOf(t, "a", "error", "b"), 0, step, nil, contrib.Forwards)
	require.ErrorIs(t, err, errNo, "a built-in's error can be told")
	assert.Equal(t, "Plugin operation failed.", err.Error())
	assert.Equal(t, 1, state)
	_, err = contrib.Fold(t.Context(), entriesOf(t, "p-error"), 0, step, nil, contrib.Forwards)
	require.Error(t, err)
	assert.False(t, errors.Is(err, errNo), "a plugin's error goes nowhere")
}

func TestFold(t *testing.T) {
	do := act(t, &journal{})
	step := func(ctx context.Context, v thing, s string) (string, error) { return s + v.Name() + " ", do(ctx, v) }
	for _, c := range []struct {
		direction contrib.Direction
		want      string
	}{{contrib.Forwards, "a b "}, {contrib.Backwards, "b a "}} {
		reported := failures{}
		state, err := contrib.Fold(t.Context(), entriesOf(t, "a", "gone", "error", "b"), "", step, reported.report, c.direction)
		require.NoError(t, err)
		assert.Equal(t, c.want, state)
		assert.Equal(t, failures{"error:error:"}, reported)
	}
	state, err := contrib.Fold(t.Context(), nil, "given", step, nil, contrib.Forwards)
	require.NoError(t, err)
	assert.Equal(t, "given", state)
}

func TestLast(t *testing.T) {
	assert.Equal(t, thing(word("b")), contrib.Last(entriesOf(t, "a", "b"), thing(word("builtin"))))
	assert.Equal(t, thing(word("builtin")), contrib.Last(nil, thing(word("builtin"))))
}

// REG-26
func TestHandleRevokedInsideItsOwnCallback(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	handles := map[string]*contrib.Handle{"a": w.add("a"), "b": w.add("b"), "c": w.add("c")}
	call := func(_ context.Context, v thing) error {
		log.add(v.Name())
		if v.Name() == "b" {
			handles["b"].Revoke()
			handles["c"].Revoke()
		}
		return nil
	}
	var reported failures
	for range 2 {
		require.NoError(t, contrib.FanOut(t.Context(), pointP.Entries(w.View(), ""), call, reported.report))
	}
	assert.Equal(t, []string{"a", "b", "c", "a"}, log.all())
	assert.Empty(t, reported)
}
