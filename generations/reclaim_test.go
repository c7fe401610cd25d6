package generations_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// heavy is a plugin's value that tests can see go.
type heavy struct{ bytes [64]byte }

func (h *heavy) Echo(_ context.Context, text string) (string, error) {
	h.bytes[0]++
	return text, nil
}

// cycle activates a clean plugin that uses everything, calls it, and stops it. It returns what the host may go on
// holding: the view with the guards, and what the teardown left.
func cycle(t *testing.T, r *contrib.Registry) (*contrib.View, weak.Pointer[heavy], generations.Remains, any) {
	var value weak.Pointer[heavy]
	c := config(r, func(s *generations.Scope) error {
		h := &heavy{}
		value = weak.Make(h)
		_, err := plain.Add(s.Registrar, echoer(h))
		_, err2 := timed.Add(s.Registrar, echoer(h))
		return errors.Join(err, err2,
			s.Lifetime.OnClose("h", func(context.Context) error { h.bytes[1]++; return nil }),
			s.Lifetime.Go("work", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
		)
	})
	gates := &generations.Table{}
	c.Gates = gates
	g := activate(t, c)
	view := r.View()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, p := range []*contrib.Point[echoer]{plain, timed} {
		_, err := p.In(view, "")[0].Echo(ctx, "a")
		require.NoError(t, err)
	}
	td := stop(g)
	require.Empty(t, td.Errors())
	return view, value, td.Remains(), []any{g, td, gates}
}

// TestStoppedGenerationIsCollected: the host keeps the guards of an old view, the generation and its teardown, and still
// nothing of the plugin is left.
func TestStoppedGenerationIsCollected(t *testing.T) {
	r := registry(t)
	view, value, remains, host := cycle(t, r)
	assert.True(t, collected(func() bool { return remains.RootGone() }), "the root")
	assert.True(t, collected(func() bool { return value.Value() == nil }), "the value")
	_, err := plain.In(view, "")[0].Echo(context.Background(), "a")
	assert.Equal(t, contrib.ErrUnavailable, err)
	runtime.KeepAlive(host)
	runtime.KeepAlive(r)
}

// collected asks for collections until gone says so. A few are needed when the runtime is still busy with the goroutines
// that have just ended.
func collected(gone func() bool) bool {
	for range 10 {
		runtime.GC()
		if gone() {
			return true
		}
	}
	return false
}

// TestWhatPluginCodeKeepsHoldsTheRoot: each of these, kept by plugin code, is seen as a leak.
func TestWhatPluginCodeKeepsHoldsTheRoot(t *testing.T) {
	r := registry(t)
	for name, take := range map[string]func(s *generations.Scope, call context.Context) any{
		"lifetime":           func(s *generations.Scope, _ context.Context) any { return s.Lifetime },
		"lifetime's context": func(s *generations.Scope, _ context.Context) any { return s.Lifetime.Context() },
		"registrar":          func(s *generations.Scope, _ context.Context) any { return s.Registrar },
		"pin":                func(s *generations.Scope, _ context.Context) any { return s.Pin() },
		"context of a call":  func(_ *generations.Scope, call context.Context) any { return call },
	} {
		t.Run(name, func(t *testing.T) {
			var kept any
			remains := func() generations.Remains {
				var scope *generations.Scope
				g := activate(t, config(r, func(s *generations.Scope) error {
					scope = s
					return add(plain, reply(func(ctx context.Context) error { kept = take(scope, ctx); return nil }))(s)
				}))
				_, err := one(t, r, plain).Echo(context.Background(), "a")
				require.NoError(t, err)
				return stop(g).Remains()
			}()
			assert.False(t, collected(remains.RootGone))
			runtime.KeepAlive(kept)
			kept = nil
			assert.True(t, collected(remains.RootGone))
		})
	}
}

// TestGenerationDoesNotKeepTheContextOfAnother: a call that comes from another generation brings a context that keeps
// that one's root.
func TestGenerationDoesNotKeepTheContextOfAnother(t *testing.T) {
	r := registry(t)
	callee := activate(t, config(r, add(plain, reply(func(context.Context) error { return nil }))))
	defer stop(callee)
	remains := func() generations.Remains {
		caller := activate(t, config(r, add(timed, reply(func(ctx context.Context) error {
			_, err := plain.In(r.View(), "")[0].Echo(ctx, "a")
			return err
		}))))
		_, err := one(t, r, timed).Echo(context.Background(), "a")
		require.NoError(t, err)
		return stop(caller).Remains()
	}()
	assert.True(t, collected(remains.RootGone))
}

// TestFailedActivationIsCollected: what was built and rolled back goes too, once the error was let go.
func TestFailedActivationIsCollected(t *testing.T) {
	r := registry(t)
	remains := func() generations.Remains {
		c := config(r, func(s *generations.Scope) error {
			return errors.Join(add(plain, reply(func(context.Context) error { return nil }))(s), errors.New("x"))
		})
		_, err := generations.Activate(context.Background(), c)
		var failure *generations.ActivationError
		require.ErrorAs(t, err, &failure)
		return failure.Rollback.Remains()
	}()
	assert.True(t, collected(remains.RootGone))
	runtime.KeepAlive(r)
}

// TestRevokedEntriesDoNotPileUp: entries with thread scope come and go while the generation lives.
func TestRevokedEntriesDoNotPileUp(t *testing.T) {
	r := registry(t)
	var registrar *contrib.Registrar
	g := activate(t, config(r, func(s *generations.Scope) error { registrar = s.Registrar; return nil }))
	defer stop(g)
	var values []weak.Pointer[heavy]
	for range 200 {
		h := &heavy{}
		values = append(values, weak.Make(h))
		_, err := plain.Add(registrar, echoer(h), contrib.InThread("t1"))
		require.NoError(t, err)
		_, err = r.ReleaseThread("t1")
		require.NoError(t, err)
	}
	runtime.GC()
	left := 0
	for _, v := range values {
		if v.Value() != nil {
			left++
		}
	}
	assert.Less(t, left, 50)
}

// What a value made for the host stands beside it: it goes when the host drops it, while the generation lives on, and
// keeps nothing of a generation that has stopped.
func TestValuesBesideGoWithTheirGuards(t *testing.T) {
	r := registry(t)
	g := activate(t, config(r, add(plain, reply(func(context.Context) error { return nil }))))
	ref := one(t, r, plain).(guard).ref
	beside := func() (*generations.Ref[echoer], weak.Pointer[heavy]) {
		h := &heavy{}
		return generations.BindBeside(ref, echoer(h)), weak.Make(h)
	}
	kept, keptValue := beside()
	released, releasedValue := beside()
	_, dropped := beside()
	for range 100 { // the memory of slots that are not needed any more is looked through when there are many
		beside()
	}
	echo := func(r *generations.Ref[echoer]) error {
		return r.Do(context.Background(), func(ctx context.Context, v echoer) error {
			_, err := v.Echo(ctx, "a")
			return err
		})
	}
	require.NoError(t, echo(kept))
	require.NoError(t, echo(released))
	released.Release()
	released.Release()
	assert.ErrorIs(t, echo(released), contrib.ErrUnavailable)
	assert.True(t, collected(func() bool { return dropped.Value() == nil }), "nobody has the reference any more")
	assert.True(t, collected(func() bool { return releasedValue.Value() == nil }), "it was let go of")
	assert.NotNil(t, keptValue.Value())
	assert.Equal(t, "test.plain", kept.Point())

	remains := stop(g).Remains()
	assert.ErrorIs(t, echo(kept), contrib.ErrUnavailable)
	assert.True(t, collected(func() bool { return keptValue.Value() == nil && remains.RootGone() }), "a reference that is kept keeps nothing")
	assert.ErrorIs(t, echo(generations.BindBeside(ref, echoer(&heavy{}))), contrib.ErrUnavailable, "after the stop there is nothing to stand beside")
	runtime.KeepAlive(kept)
	runtime.KeepAlive(g)
}
