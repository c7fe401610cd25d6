package generations_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// full is an activation that uses everything and writes to j what it does.
func full(r *contrib.Registry, j *journal) generations.Config {
	c := config(r, nil)
	c.Build = func(_ context.Context, s *generations.Scope) (generations.App, error) {
		j.add("construct")
		v := &ownedEcho{closer: closer{j: j, name: "close value"}, f: func() {}}
		_, err := plain.Add(s.Registrar, v, contrib.Owned())
		for _, name := range []string{"close r1", "close r2"} {
			err = errors.Join(err, s.Lifetime.OnClose(name, func(ctx context.Context) error {
				if s.Lifetime.Context().Err() == nil || !errors.Is(context.Cause(s.Lifetime.Context()), generations.ErrStopping) || ctx.Err() != nil {
					j.add("not told to stop, or cannot close")
				}
				j.add("%s", name)
				return nil
			}))
		}
		err = errors.Join(err, s.Lifetime.Go("work", func(ctx context.Context) error {
			j.add("work")
			<-ctx.Done()
			j.add("work ended")
			return ctx.Err()
		}))
		return app{
			start: func(context.Context) error { j.add("start"); return nil },
			stop:  func(ctx context.Context) error { j.add("stop"); return ctx.Err() },
		}, err
	}
	c.OnSeal = func() error { j.add("seal"); return nil }
	c.Admit = func() error { j.add("admit"); return nil }
	c.OnCommit = func(*generations.Generation) { j.add("committed %d", len(plain.In(r.View(), ""))) }
	c.OnDrop = func() { j.add("drop") }
	return c
}

func TestActivationRunsItsStepsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		r := registry(t)
		gates := &generations.Table{}
		c := full(r, j)
		c.Gates = gates
		g := activate(t, c)
		synctest.Wait()
		assert.Equal(t, []string{"construct", "start", "seal", "admit", "committed 1", "work"}, j.all())
		gate, ok := gates.Gate("acme", g.ID())
		require.True(t, ok)
		assert.Same(t, g.Gate(), gate)

		assert.Empty(t, stop(g).Errors())
		assert.Equal(t, []string{"work ended", "close value", "drop", "stop", "close r2", "close r1"}, j.all()[6:])
		_, ok = gates.Gate("acme", g.ID())
		assert.False(t, ok)
		assert.True(t, gate.Closed())
	})
}

// TestFailpoints injects a failure into each step before the commit: nothing is ever visible, and what was built is taken
// back in the order of a teardown.
func TestFailpoints(t *testing.T) {
	built := []string{"construct"}
	started := []string{"construct", "start"}
	back := []string{"close value", "drop", "close r2", "close r1"}
	backStarted := []string{"close value", "drop", "stop", "close r2", "close r1"}
	for _, tt := range []struct {
		step string
		want []string
	}{
		{generations.StepConstruct, []string{"drop"}},
		{generations.StepContribute, append(built, back...)},
		{generations.StepStart, append(built, back...)},
		{generations.StepSeal, append(started, backStarted...)},
		{generations.StepAdmit, append(append(started, "seal"), backStarted...)},
		{generations.StepCommit, append(append(started, "seal", "admit"), backStarted...)},
	} {
		for _, how := range []string{"error", "panic"} {
			t.Run(tt.step+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					injected := errors.New("injected")
					j := &journal{}
					r := registry(t)
					version := r.View().Version()
					gates := &generations.Table{}
					c := full(r, j)
					c.Gates = gates
					c.Failpoint = func(step string) error {
						switch {
						case step != tt.step:
							return nil
						case how == "panic":
							panic(injected)
						default:
							return injected
						}
					}
					g, err := generations.Activate(context.Background(), c)
					require.Nil(t, g)
					require.ErrorIs(t, err, generations.ErrFailed)
					if how == "error" {
						require.ErrorIs(t, err, injected)
					}
					var failure *generations.ActivationError
					require.ErrorAs(t, err, &failure)
					assert.Equal(t, tt.step, failure.Step)
					assert.True(t, isClosed(failure.Rollback.Done()), "the rollback is complete")
					assert.Empty(t, failure.Rollback.Errors())
					assert.Equal(t, tt.want, j.all())
					assert.Equal(t, version, r.View().Version(), "nothing was ever published")
					_, ok := gates.Gate(c.Plugin, c.ID)
					assert.False(t, ok)
					synctest.Wait() // and no goroutine is left, or the bubble would not end
				})
			})
		}
	}
}

func TestFailureOfTheFirstWorkIsAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		r := registry(t)
		c := full(r, j)
		c.Failpoint = func(step string) error {
			if step == generations.StepWork {
				return errors.New("injected")
			}
			return nil
		}
		var faults []string
		c.OnFault = func(work string) { faults = append(faults, work) }
		g := activate(t, c)
		assert.Equal(t, []string{generations.StepWork}, faults)
		stop(g)
	})
}

// TestFailedActivation is GEN-7 and the rows of the table of outcomes.
func TestFailedActivation(t *testing.T) {
	secret := errors.New("secret")
	for _, tt := range []struct {
		name    string
		change  func(c *generations.Config, a *app)
		is      []error
		step    string
		stopped bool // the stop hooks run
	}{
		{
			"start hook", func(_ *generations.Config, a *app) { a.start = func(context.Context) error { return secret } },
			[]error{generations.ErrFailed, secret},
			generations.StepStart, false,
		},
		{
			"start hook panics", func(_ *generations.Config, a *app) { a.start = func(context.Context) error { panic(secret) } },
			[]error{generations.ErrFailed, generations.ErrPanic},
			generations.StepStart, true,
		},
		{"start hook ends its goroutine", func(_ *generations.Config, a *app) {
			a.start = func(context.Context) error { runtime.Goexit(); return nil }
		}, []error{generations.ErrFailed, generations.ErrPanic}, generations.StepStart, true},
		{
			"seal", func(c *generations.Config, _ *app) { c.OnSeal = func() error { return secret } },
			[]error{generations.ErrRefused, secret},
			generations.StepSeal, true,
		},
		{
			"admit", func(c *generations.Config, _ *app) { c.Admit = func() error { return secret } },
			[]error{generations.ErrRefused, secret},
			generations.StepAdmit, true,
		},
		{"constructor", func(c *generations.Config, _ *app) {
			build := c.Build
			c.Build = func(ctx context.Context, s *generations.Scope) (generations.App, error) {
				_, _ = build(ctx, s)
				return nil, secret
			}
		}, []error{generations.ErrFailed, secret}, generations.StepConstruct, false},
		{"constructor panics", func(c *generations.Config, _ *app) {
			build := c.Build
			c.Build = func(ctx context.Context, s *generations.Scope) (generations.App, error) {
				_, _ = build(ctx, s)
				panic("secret")
			}
		}, []error{generations.ErrFailed, generations.ErrPanic}, generations.StepConstruct, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, j := &logFile{}, &journal{}
			r := registry(t)
			version := r.View().Version()
			c := config(r, nil)
			a := &app{stop: func(context.Context) error { j.add("stop"); return nil }}
			c.Logger = log.logger()
			c.Build = func(_ context.Context, s *generations.Scope) (generations.App, error) {
				return a, errors.Join(
					add(plain, reply(func(context.Context) error { return nil }))(s),
					s.Lifetime.OnClose("r", func(context.Context) error {
						j.add("closed, told before: %v", context.Cause(s.Lifetime.Context()))
						return nil
					}),
				)
			}
			tt.change(&c, a)
			g, err := generations.Activate(context.Background(), c)
			require.Nil(t, g)
			for _, is := range tt.is {
				assert.ErrorIs(t, err, is)
			}
			var failure *generations.ActivationError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, tt.step, failure.Step)
			assert.NotContains(t, err.Error(), "secret")
			want := []string{"closed, told before: generations: stopping"}
			if tt.stopped {
				want = append([]string{"stop"}, want...)
			}
			assert.Equal(t, want, j.all())
			assert.Equal(t, version, r.View().Version())
			if !errors.Is(err, generations.ErrRefused) && tt.name != "start hook ends its goroutine" {
				assert.Contains(t, log.String(), "secret", "the log file has it")
			}
		})
	}
}

// TestPendingRegistrationFailsTheActivation is GEN-2 as the activation sees it.
func TestPendingRegistrationFailsTheActivation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		slow := contrib.Define(contrib.Spec[echoer]{
			Name: "test.slow", Doc: "Slow.", Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly, Evaluation: contrib.PerCall,
			Failure:  contrib.Skip,
			Describe: func(echoer) (any, error) { <-let; return nil, nil },
			Guard:    func(v echoer, _ any, ref contrib.Ref) echoer { return guard{generations.Bind(ref, v)} },
		})
		r, err := contrib.New(slow)
		require.NoError(t, err)
		version := r.View().Version()
		c := config(r, func(s *generations.Scope) error {
			defer synctest.Wait()
			go func() { _ = add(slow, reply(func(context.Context) error { return nil }))(s) }()
			return nil
		})
		_, err = generations.Activate(context.Background(), c)
		require.ErrorIs(t, err, contrib.ErrRegistrationPending)
		require.ErrorIs(t, err, generations.ErrFailed)
		var failure *generations.ActivationError
		require.ErrorAs(t, err, &failure)
		assert.False(t, isClosed(failure.Rollback.Done()), "the metadata is still being read inside the gate")
		close(let)
		<-failure.Rollback.Done()
		assert.Equal(t, version, r.View().Version())
	})
}

// TestActivationTimeout is RUN-1 as far as one generation goes.
func TestActivationTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		r := registry(t)
		version := r.View().Version()
		let := make(chan struct{})
		c := full(r, j)
		build := c.Build
		c.Build = func(ctx context.Context, s *generations.Scope) (generations.App, error) {
			<-let
			j.add("cancelled: %v", ctx.Err() != nil && s.Lifetime.Context().Err() != nil)
			return build(ctx, s)
		}
		began := time.Now()
		_, err := generations.Activate(context.Background(), c)
		require.ErrorIs(t, err, generations.ErrTimeout)
		assert.Equal(t, generations.DefaultTimeout, time.Since(began))
		var failure *generations.ActivationError
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, c.ID, failure.Generation)
		assert.False(t, isClosed(failure.Rollback.Done()), "a pending teardown")
		close(let)
		<-failure.Rollback.Done()
		assert.Equal(t, []string{"cancelled: true", "construct", "start", "close value", "drop", "stop", "close r2", "close r1"},
			append(j.all()[:3:3], j.all()[len(j.all())-5:]...))
		assert.Equal(t, version, r.View().Version())
		assert.NotContains(t, j.all(), "admit")
	})
}

func TestSlowRollbackIsPendingToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		c := config(registry(t), func(s *generations.Scope) error {
			_ = s.Lifetime.OnClose("slow", func(context.Context) error { <-let; return nil })
			return errors.New("secret")
		})
		c.Timeout = time.Second
		_, err := generations.Activate(context.Background(), c)
		require.ErrorIs(t, err, generations.ErrFailed)
		require.NotErrorIs(t, err, generations.ErrTimeout)
		var failure *generations.ActivationError
		require.ErrorAs(t, err, &failure)
		assert.False(t, isClosed(failure.Rollback.Done()))
		close(let)
		<-failure.Rollback.Done()
	})
}

// TestTimerAndCommitRace has both come at the same instant: one of them wins, and everything follows it.
func TestTimerAndCommitRace(t *testing.T) {
	won := map[bool]int{}
	for i := range 200 {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{}
			r := registry(t)
			c := full(r, j)
			c.Timeout = time.Second
			c.Admit = func() error {
				time.Sleep(time.Second - time.Duration(i%2)*time.Nanosecond)
				return nil
			}
			g, err := generations.Activate(context.Background(), c)
			won[err == nil]++
			if err == nil {
				assert.Len(t, plain.In(r.View(), ""), 1)
				stop(g)
				return
			}
			require.ErrorIs(t, err, generations.ErrTimeout)
			var failure *generations.ActivationError
			require.ErrorAs(t, err, &failure)
			<-failure.Rollback.Done()
			assert.Zero(t, r.View().Version())
			assert.Contains(t, j.all(), "close r1")
		})
	}
	assert.Equal(t, 200, won[true]+won[false])
	assert.GreaterOrEqual(t, won[true], 100, "a commit before the timer wins")
}

func TestActivationIgnoresTheCallersContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g, err := generations.Activate(ctx, config(registry(t), nil))
	require.NoError(t, err)
	stop(g)
}

func TestConfigThatCannotWork(t *testing.T) {
	r := registry(t)
	build := func(context.Context, *generations.Scope) (generations.App, error) { return nil, nil }
	for name, c := range map[string]generations.Config{
		"no registry":      {Plugin: "acme", ID: "g", Build: build},
		"no builder":       {Plugin: "acme", ID: "g", Registry: r},
		"no plugin":        {ID: "g", Registry: r, Build: build},
		"no id":            {Plugin: "acme", Registry: r, Build: build},
		"negative timeout": {Plugin: "acme", ID: "g", Registry: r, Build: build, Timeout: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := generations.Activate(context.Background(), c)
			require.Error(t, err)
			var failure *generations.ActivationError
			assert.False(t, errors.As(err, &failure))
		})
	}
}

// TestRefusedContributionLeavesTheRest is GEN-4 as the generation reports it.
func TestRefusedContributionLeavesTheRest(t *testing.T) {
	r := registry(t)
	foreign := define("test.foreign", 0)
	g := activate(t, config(r, func(s *generations.Scope) error {
		_ = add(foreign, reply(func(context.Context) error { return nil }))(s)
		return nil
	}))
	defer stop(g)
	require.Len(t, g.Refused(), 1)
	assert.Equal(t, "unknownPoint", g.Refused()[0].Params["reason"])
}
