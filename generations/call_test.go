package generations_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// reply makes an echo that runs f and returns its error.
func reply(f func(ctx context.Context) error) echoFunc {
	return func(ctx context.Context, text string) (string, error) { return text, f(ctx) }
}

// profile is the labels of the calling goroutine as a profile shows them.
func profile() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	return b.String()
}

// TestGuardSeesPanicAndDeadline is GEN-9: the walk goes on, waits no longer than the deadline, and the abandoned call
// keeps its lease.
func TestGuardSeesPanicAndDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logFile{}
		r := registry(t)
		let := make(chan struct{})
		c := config(r, func(s *generations.Scope) error {
			for _, f := range []func(context.Context) error{
				func(context.Context) error { panic("secret") },
				func(context.Context) error { <-let; return errors.New("late secret") },
				func(context.Context) error { return nil },
			} {
				if err := add(timed, reply(f))(s); err != nil {
					return err
				}
			}
			return nil
		})
		c.Logger = log.logger()
		g := activate(t, c)

		var causes []contrib.Cause
		began := time.Now()
		err := contrib.FanOut(context.Background(), timed.Entries(r.View(), ""), func(ctx context.Context, e echoer) error {
			_, err := e.Echo(ctx, "a")
			return err
		}, func(_ *contrib.EntryInfo, f *contrib.CallError) {
			causes = append(causes, f.Cause)
			assert.Equal(t, "Plugin operation failed.", f.Error())
		})
		require.NoError(t, err)
		assert.Equal(t, []contrib.Cause{contrib.CausePanic, contrib.CauseDeadline}, causes)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Equal(t, 1, g.Gate().Inside(), "the abandoned call is inside")
		assert.Contains(t, log.String(), "secret")
		assert.Contains(t, log.String(), "point=test.timed")

		td := g.Stop(contrib.StopOperator)
		synctest.Wait()
		assert.False(t, isClosed(td.Done()))
		close(let)
		<-td.Done()
		assert.Contains(t, log.String(), "late secret")
	})
}

// TestCallerHasItsOwnLabelsAgain is GEN-9 as to labels.
func TestCallerHasItsOwnLabelsAgain(t *testing.T) {
	r := registry(t)
	var during string
	call := func(context.Context) error {
		during = profile()
		pprof.SetGoroutineLabels(context.Background()) // plugin code may do this
		return nil
	}
	g := activate(t, config(r, func(s *generations.Scope) error {
		return errors.Join(
			add(plain, reply(call))(s),
			add(plain, reply(func(context.Context) error { panic("x") }))(s),
			add(timed, reply(call))(s),
		)
	}))
	defer stop(g)
	carries := `"crystal.generation":"acme@` + g.ID() + `"`

	pprof.Do(context.Background(), pprof.Labels("host", "here"), func(context.Context) {
		for _, p := range []*contrib.Point[echoer]{plain, timed} {
			for _, e := range p.In(r.View(), "") {
				// The context has no labels, so what is put back cannot come from it.
				_, _ = e.Echo(context.Background(), "a")
				assert.Contains(t, during, carries)
				assert.Contains(t, during, `"crystal.plugin":"acme"`)
				after := profile()
				assert.Contains(t, after, `{"host":"here"}`)
				assert.NotContains(t, after, carries)
			}
		}
	})
}

func TestLabelsSurviveALabelledSectionOfThePlugin(t *testing.T) {
	r := registry(t)
	var after string
	g := activate(t, config(r, add(plain, reply(func(ctx context.Context) error {
		pprof.Do(ctx, pprof.Labels("mine", "x"), func(context.Context) {})
		after = profile()
		return nil
	}))))
	defer stop(g)
	_, err := one(t, r, plain).Echo(context.Background(), "a")
	require.NoError(t, err)
	assert.Contains(t, after, `"crystal.generation":"acme@`+g.ID()+`"`)
}

func TestUnlabelledHidesTheGeneration(t *testing.T) {
	r := registry(t)
	var during, after string
	g := activate(t, config(r, add(plain, reply(func(context.Context) error {
		generations.Unlabelled(func() { during = profile() })
		after = profile()
		return nil
	}))))
	defer stop(g)
	_, err := one(t, r, plain).Echo(context.Background(), "a")
	require.NoError(t, err)
	assert.NotContains(t, during, "acme@"+g.ID())
	assert.Contains(t, after, "acme@"+g.ID())
}

func TestErrorsOfACall(t *testing.T) {
	secret := errors.New("secret")
	cancelled := func() context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx
	}
	for _, p := range []*contrib.Point[echoer]{plain, timed} {
		for _, tt := range []struct {
			name   string
			caller context.Context
			err    error
			is     error
			cause  contrib.Cause
		}{
			{"error", context.Background(), secret, nil, contrib.CauseError},
			{"wrapped", context.Background(), errors.Join(secret, context.Canceled), nil, contrib.CauseError},
			{"cancelled by itself", context.Background(), context.Canceled, nil, contrib.CauseError},
			{"unavailable", context.Background(), errors.Join(secret, contrib.ErrUnavailable), contrib.ErrUnavailable, ""},
			{"foreign failure", context.Background(), &contrib.CallError{Cause: contrib.CauseRefused, Rule: "secret"}, nil, contrib.CauseError},
			{"caller is done", cancelled(), context.Canceled, context.Canceled, ""},
		} {
			t.Run(p.Name()+"/"+tt.name, func(t *testing.T) {
				r := registry(t)
				g := activate(t, config(r, add(p, reply(func(context.Context) error { return tt.err }), contrib.Label("mine"))))
				defer stop(g)
				out, err := one(t, r, p).Echo(tt.caller, "a")
				assert.Empty(t, out, "a failed call has no result")
				if tt.is != nil {
					assert.Equal(t, tt.is, err, "and nothing that the plugin wrapped around it")
					return
				}
				var call *contrib.CallError
				require.ErrorAs(t, err, &call)
				assert.Equal(t, tt.cause, call.Cause)
				assert.Equal(t, p.Name(), call.Point)
				assert.Equal(t, "mine", call.Label)
				assert.Equal(t, g.ID(), call.Origin.Generation())
				assert.Empty(t, call.Rule)
				assert.NotErrorIs(t, err, secret)
			})
		}
	}
}

// A panic, and a goroutine that the code ends, are failures of the call on every way.
func TestPanicsOfACall(t *testing.T) {
	r := registry(t)
	panics := reply(func(context.Context) error { panic("secret") })
	g := activate(t, config(r, func(s *generations.Scope) error {
		return errors.Join(add(plain, panics)(s), add(timed, panics)(s))
	}))
	defer stop(g)
	ref, timedRef := one(t, r, plain).(guard).ref, one(t, r, timed).(guard).ref
	echo := func(ctx context.Context, e echoer) (string, error) { return e.Echo(ctx, "a") }
	do := func(ctx context.Context, e echoer) error { _, err := e.Echo(ctx, "a"); return err }
	for name, call := range map[string]func(context.Context) (string, error){
		"Call":          func(ctx context.Context) (string, error) { return generations.Call(ctx, ref, echo) },
		"CallHere":      func(ctx context.Context) (string, error) { return generations.CallHere(ctx, ref, echo) },
		"Call, timed":   func(ctx context.Context) (string, error) { return generations.Call(ctx, timedRef, echo) },
		"Do":            func(ctx context.Context) (string, error) { return "", ref.Do(ctx, do) },
		"DoHere":        func(ctx context.Context) (string, error) { return "", ref.DoHere(ctx, do) },
		"DoHere, timed": func(ctx context.Context) (string, error) { return "", timedRef.DoHere(ctx, do) },
	} {
		text, err := call(context.Background())
		var failure *contrib.CallError
		require.ErrorAs(t, err, &failure, name)
		assert.Equal(t, contrib.CausePanic, failure.Cause, name)
		assert.Equal(t, "Plugin operation failed.", err.Error(), name)
		assert.Empty(t, text, name)
		assert.Zero(t, g.Gate().Inside(), name)
	}
}

func TestErrorsOfACallWithoutAResult(t *testing.T) {
	r := registry(t)
	secret := errors.New("secret")
	g := activate(t, config(r, add(plain, reply(func(context.Context) error { return secret }))))
	defer stop(g)
	err := one(t, r, plain).(guard).ref.DoHere(context.Background(), func(ctx context.Context, e echoer) error {
		_, err := e.Echo(ctx, "a")
		return err
	})
	var failure *contrib.CallError
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, contrib.CauseError, failure.Cause)
	assert.NotErrorIs(t, err, secret)
}

func TestRefusedResultIsPassedOn(t *testing.T) {
	r := registry(t)
	g := activate(t, config(r, add(plain, reply(func(context.Context) error { return nil }))))
	defer stop(g)
	ref := one(t, r, plain).(guard).ref
	err := ref.Do(context.Background(), func(context.Context, echoer) error { return ref.Refuse("too long") })
	var call *contrib.CallError
	require.ErrorAs(t, err, &call)
	assert.Equal(t, contrib.CauseRefused, call.Cause)
	assert.Equal(t, "too long", call.Rule)
}

func TestCallEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		let := make(chan struct{})
		entered, told := make(chan struct{}), make(chan struct{})
		var cause error
		g := activate(t, config(r, add(timed, reply(func(ctx context.Context) error {
			close(entered)
			<-ctx.Done()
			cause = context.Cause(ctx)
			close(told)
			<-let
			return nil
		}))))
		boredom := errors.New("bored")
		ctx, cancel := context.WithCancelCause(context.Background())
		go func() {
			<-entered
			cancel(boredom)
		}()
		_, err := one(t, r, timed).Echo(ctx, "a")
		assert.Equal(t, context.Canceled, err, "at once, although the code is still running")
		assert.Equal(t, 1, g.Gate().Inside())
		<-told // before the generation is told to stop, which would be a cause of its own
		close(let)
		stop(g)
		assert.Equal(t, boredom, cause)
	})
}

func TestCallEndsWhenTheGenerationStops(t *testing.T) {
	for _, p := range []*contrib.Point[echoer]{plain, timed} {
		t.Run(p.Name(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := registry(t)
				var cause, child, childCause error
				g := activate(t, config(r, add(p, reply(func(ctx context.Context) error {
					derived, cancel := context.WithCancel(ctx)
					defer cancel()
					<-derived.Done()
					cause, child, childCause = context.Cause(ctx), derived.Err(), context.Cause(derived)
					return ctx.Err()
				}))))
				caller, cancel := context.WithCancel(context.Background())
				defer cancel()
				got := make(chan error)
				e := one(t, r, p)
				go func() { _, err := e.Echo(caller, "a"); got <- err }()
				synctest.Wait()
				td := g.Stop(contrib.StopOperator)
				assert.Equal(t, contrib.ErrUnavailable, <-got)
				<-td.Done()
				assert.Equal(t, generations.ErrStopping, cause)
				assert.Equal(t, context.Canceled, child)
				assert.Equal(t, generations.ErrStopping, childCause)
			})
		})
	}
}

func TestContextOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type valueKey struct{}
		r := registry(t)
		var seen context.Context
		var value any
		var deadline time.Time
		keep := reply(func(ctx context.Context) error {
			seen, value = ctx, ctx.Value(valueKey{})
			deadline, _ = ctx.Deadline()
			return ctx.Err()
		})
		g := activate(t, config(r, func(s *generations.Scope) error { return errors.Join(add(plain, keep)(s), add(timed, keep)(s)) }))
		ctx := context.WithValue(context.Background(), valueKey{}, "v")
		_, err := one(t, r, timed).Echo(ctx, "a")
		require.NoError(t, err)
		assert.Equal(t, "v", value)
		assert.Equal(t, time.Now().Add(time.Second), deadline)
		assert.Equal(t, context.Canceled, seen.Err(), "a context with a deadline ends with its call")
		<-seen.Done()

		sooner, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		_, err = one(t, r, timed).Echo(sooner, "a")
		require.NoError(t, err)
		assert.Equal(t, time.Now().Add(time.Millisecond), deadline, "the caller's deadline when it is earlier")

		_, err = one(t, r, plain).Echo(ctx, "a")
		require.NoError(t, err)
		assert.NoError(t, seen.Err())
		stop(g)
		assert.Equal(t, context.Canceled, seen.Err(), "a kept context is over when the generation is")
		assert.Equal(t, generations.ErrStopping, context.Cause(seen))
		assert.Nil(t, pprofLabel(ctx), "the caller's context is left alone")
	})
}

func pprofLabel(ctx context.Context) any {
	if v, ok := pprof.Label(ctx, generations.LabelPlugin); ok {
		return v
	}
	return nil
}

func TestWatchedContextEndsWithACallOnTheCallersGoroutine(t *testing.T) {
	r := registry(t)
	var seen []context.Context
	g := activate(t, config(r, add(plain, reply(func(ctx context.Context) error {
		seen = append(seen, ctx)
		return context.Cause(ctx)
	}))))
	defer stop(g)
	caller, cancel := context.WithCancel(context.Background())
	defer cancel()
	e := one(t, r, plain)
	_, err := e.Echo(caller, "a")
	require.NoError(t, err)
	done := seen[0].Done()
	_, err = e.Echo(caller, "a")
	require.NoError(t, err)
	<-done
	assert.Equal(t, context.Canceled, seen[0].Err())
	_, err = e.Echo(caller, "a")
	require.NoError(t, err, "a call after it has a context that is not over")
	assert.NoError(t, seen[2].Err())
}

func TestEndedGoroutineDoesNotHangTheCaller(t *testing.T) {
	r := registry(t)
	g := activate(t, config(r, func(s *generations.Scope) error {
		exit := reply(func(context.Context) error { runtime.Goexit(); return nil })
		return errors.Join(add(timed, exit)(s), add(plain, exit)(s))
	}))
	_, err := one(t, r, timed).Echo(context.Background(), "a")
	var call *contrib.CallError
	require.ErrorAs(t, err, &call)
	assert.Equal(t, contrib.CausePanic, call.Cause)

	done := make(chan struct{})
	go func() { // without a deadline it is the caller's own goroutine that ends
		defer close(done)
		_, _ = one(t, r, plain).Echo(context.Background(), "a")
		t.Error("unreachable")
	}()
	<-done
	stop(g) // the lease was given back
}

func TestNestedCalls(t *testing.T) {
	r := registry(t)
	depth := 0
	var g *generations.Generation
	g = activate(t, config(r, add(plain, func(ctx context.Context, text string) (string, error) {
		if depth++; depth == 3 {
			g.Stop(contrib.StopOperator)
			return text, nil
		}
		return plain.In(r.View(), "")[0].Echo(ctx, text+"+")
	})))
	e := one(t, r, plain)
	out, err := e.Echo(context.Background(), "a")
	require.NoError(t, err, "the outer calls go on")
	assert.Equal(t, "a++", out)
	<-g.Stop(contrib.StopOperator).Done()
	_, err = e.Echo(context.Background(), "a")
	assert.Equal(t, contrib.ErrUnavailable, err)
	assert.Equal(t, 3, depth)
}

func TestRevokedEntryIsUnavailableWhileTheGenerationLives(t *testing.T) {
	r := registry(t)
	var h *contrib.Handle
	g := activate(t, config(r, func(s *generations.Scope) (err error) {
		h, err = plain.Add(s.Registrar, reply(func(context.Context) error { return nil }))
		return err
	}))
	defer stop(g)
	e := one(t, r, plain)
	ref := e.(guard).ref
	assert.True(t, ref.Live())
	h.Revoke()
	assert.False(t, ref.Live())
	_, err := e.Echo(context.Background(), "a")
	assert.Equal(t, contrib.ErrUnavailable, err)
	_, ok := ref.Hold()
	assert.False(t, ok)
}

// TestDrainWaitsForTheCallInside is GEN-3.
func TestDrainWaitsForTheCallInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		j := &journal{}
		let, calls := make(chan struct{}), 0
		v := &ownedEcho{closer: closer{j: j, name: "value"}, f: func() { calls++; <-let }}
		g := activate(t, config(r, func(s *generations.Scope) error {
			_, err := plain.Add(s.Registrar, v, contrib.Owned())
			return err
		}))
		e := one(t, r, plain)
		got := make(chan string)
		go func() { out, _ := e.Echo(context.Background(), "a"); got <- out }()
		synctest.Wait()
		td := g.Stop(contrib.StopOperator)
		synctest.Wait()
		assert.False(t, isClosed(g.Gate().Drained()))
		assert.Empty(t, j.all())
		_, err := e.Echo(context.Background(), "a")
		assert.Equal(t, contrib.ErrUnavailable, err)
		close(let)
		assert.Equal(t, "a", <-got, "a call that was inside ends well")
		<-td.Done()
		assert.Equal(t, []string{"value"}, j.all())
		assert.Equal(t, 1, calls)
	})
}

// ownedEcho is an echoer that has to be closed.
type ownedEcho struct {
	closer
	f func()
}

func (o *ownedEcho) Echo(_ context.Context, text string) (string, error) {
	o.f()
	return text, nil
}

func TestHeldLeaseDelaysTheTeardown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		g := activate(t, config(r, add(plain, reply(func(context.Context) error { return nil }))))
		held, ok := one(t, r, plain).(guard).ref.Hold()
		require.True(t, ok)
		td := g.Stop(contrib.StopOperator)
		synctest.Wait()
		assert.False(t, isClosed(td.Done()))
		held.Release()
		held.Release()
		assert.Nil(t, held.Value)
		<-td.Done()
	})
}

func TestForeignReferenceIsNeverAvailable(t *testing.T) {
	for _, ref := range []contrib.Ref{nil, foreignRef{}} {
		b := generations.Bind[echoer](ref, echoFunc(nil))
		assert.False(t, b.Live())
		assert.Equal(t, contrib.ErrUnavailable, b.Do(context.Background(), func(context.Context, echoer) error { return nil }))
	}
}

type foreignRef struct{}

func (foreignRef) Origin() contrib.Origin { return contrib.Builtin() }
func (foreignRef) Point() string          { return "test.plain" }
func (foreignRef) Label() string          { return "x" }

func TestMaterialisedObjectsAreClosedOnce(t *testing.T) {
	j := &journal{}
	r := registry(t)
	g := activate(t, config(r, add(plain, reply(func(context.Context) error { return nil }))))
	ref := one(t, r, plain).(guard).ref
	closeIt := map[string]func() error{}
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, ref.Do(context.Background(), func(context.Context, echoer) error {
			c := &closer{j: j, name: name, err: errors.New("secret")}
			once, err := ref.Materialised(c.Close)
			closeIt[name] = once
			return err
		}))
	}
	err := closeIt["b"]()
	var call *contrib.CallError
	require.ErrorAs(t, err, &call, "the fixed text")
	require.NoError(t, closeIt["b"]())
	td := stop(g)
	assert.Equal(t, []string{"b", "c", "a"}, j.all(), "what is left is closed newest first")
	require.Len(t, td.Errors(), 2)
	assert.Equal(t, generations.CleanRelease, td.Errors()[0].Step)
	require.NoError(t, closeIt["a"]())
	assert.Len(t, j.all(), 3)
	_, err = ref.Materialised(func() error { return nil })
	assert.Equal(t, contrib.ErrUnavailable, err)
}

func TestGuardedCallAllocatesNothing(t *testing.T) {
	a, g := guarded(t, sums)
	defer stop(g)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	assert.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = a.Add(ctx, 1) }))
}
