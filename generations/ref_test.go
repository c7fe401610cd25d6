package generations_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

func TestReferenceTellsWhereItComesFrom(t *testing.T) {
	r := registry(t)
	g := activate(t, config(r, add(timed, reply(func(context.Context) error { return nil }), contrib.Label("mine"), contrib.Deadline(time.Minute))))
	ref := one(t, r, timed).(guard).ref
	stop(g)
	assert.Equal(t, "plugin:acme@"+g.ID(), ref.Origin().String(), "also when it is over")
	assert.Equal(t, "test.timed", ref.Point())
	assert.Equal(t, "mine", ref.Label())
	assert.Equal(t, time.Minute, ref.Deadline())
	assert.False(t, ref.Live())
	assert.Equal(t, "acme", g.Plugin())
}

func TestDeadlineOfOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		g := activate(t, config(r, func(s *generations.Scope) error {
			f := reply(func(context.Context) error { return nil })
			return errors.Join(add(plain, f)(s), add(timed, f)(s))
		}))
		block := func(ctx context.Context, _ echoer) error { <-ctx.Done(); return ctx.Err() }
		began := time.Now()
		err := one(t, r, plain).(guard).ref.DoWithin(context.Background(), time.Minute, block)
		var call *contrib.CallError
		require.ErrorAs(t, err, &call)
		assert.Equal(t, contrib.CauseDeadline, call.Cause, "giving up at the deadline is missing it")
		assert.Equal(t, time.Minute, time.Since(began))

		timedRef := one(t, r, timed).(guard).ref
		n, err := generations.CallWithin(context.Background(), timedRef, 0, func(ctx context.Context, _ echoer) (int, error) {
			_, has := ctx.Deadline()
			assert.False(t, has)
			time.Sleep(time.Hour)
			return 7, nil
		})
		require.NoError(t, err)
		assert.Equal(t, 7, n)
		stop(g)
	})
}

// TestOverlappingCallsHaveContextsOfTheirOwn: what ends one call does not end another.
func TestOverlappingCallsHaveContextsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		g := activate(t, config(r, add(plain, reply(func(context.Context) error { return nil }))))
		ref := one(t, r, plain).(guard).ref
		caller, cancel := context.WithCancel(context.Background())
		defer cancel()
		let, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- ref.DoHere(caller, func(ctx context.Context, _ echoer) error {
				done := ctx.Done()
				<-let
				select {
				case <-done:
					return errors.New("ended by another call")
				default:
					return ctx.Err()
				}
			})
		}()
		synctest.Wait()
		for range 3 {
			require.NoError(t, ref.DoHere(caller, func(ctx context.Context, _ echoer) error { _ = ctx.Done(); return ctx.Err() }))
		}
		close(let)
		require.NoError(t, <-ended)
		stop(g)
	})
}

// uncomparable is a context that panics when it is compared.
type uncomparable struct {
	context.Context
	_ []int
}

func TestCallersContextNeedNotBeComparable(t *testing.T) {
	r := registry(t)
	g := activate(t, config(r, add(plain, reply(func(ctx context.Context) error { return ctx.Err() }))))
	defer stop(g)
	ctx := uncomparable{Context: context.Background()}
	for range 3 {
		_, err := one(t, r, plain).Echo(ctx, "a")
		require.NoError(t, err)
	}
}

func TestPanicOfAUserCloseIsContained(t *testing.T) {
	r := registry(t)
	g := activate(t, config(r, add(plain, reply(func(context.Context) error { return nil }))))
	ref := one(t, r, plain).(guard).ref
	closeIt, err := ref.Materialised(func() error { panic("secret") })
	require.NoError(t, err)
	late, err := ref.Materialised(func() error { return nil })
	require.NoError(t, err)
	var call *contrib.CallError
	require.ErrorAs(t, closeIt(), &call)
	assert.Equal(t, contrib.CausePanic, call.Cause)
	assert.Zero(t, g.Gate().Inside())
	stop(g)
	assert.NoError(t, late())
}
