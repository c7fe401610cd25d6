package generations_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// TestStoppingIsSignalledBehindAClosedGate is GEN-5.
func TestStoppingIsSignalledBehindAClosedGate(t *testing.T) {
	var lt *generations.Lifetime
	g := activate(t, config(registry(t), func(s *generations.Scope) error { lt = s.Lifetime; return nil }))
	entered := make(chan bool, 1)
	context.AfterFunc(lt.Context(), func() {
		_, ok := g.Gate().Enter()
		entered <- ok
	})
	stop(g)
	assert.False(t, <-entered)
}

// TestOrderOfATeardown is GEN-6.
func TestOrderOfATeardown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, j := &logFile{}, &journal{}
		r := registry(t)
		c := config(r, nil)
		c.Logger = log.logger()
		c.Build = func(_ context.Context, s *generations.Scope) (generations.App, error) {
			v := &ownedEcho{closer: closer{j: j, name: "value"}, f: func() {}}
			_, err := plain.Add(s.Registrar, v, contrib.Owned())
			return app{stop: func(context.Context) error { j.add("stop hook"); return nil }}, errors.Join(err,
				s.Lifetime.Own(&closer{j: j, name: "r1", err: errors.New("secret")}),
				s.Lifetime.Own(&closer{j: j, name: "r2"}),
				s.Lifetime.Go("work", func(ctx context.Context) error { <-ctx.Done(); j.add("work ended"); return nil }),
			)
		}
		c.OnDrop = func() { j.add("drop") }
		g := activate(t, c)
		td := stop(g)
		assert.Equal(t, []string{"work ended", "value", "drop", "stop hook", "r2", "r1"}, j.all())
		require.Len(t, td.Errors(), 1)
		assert.Equal(t, generations.CleanClose, td.Errors()[0].Step)
		assert.NotContains(t, td.Errors()[0].Error(), "secret")
		assert.Contains(t, log.String(), "secret")
		assert.Same(t, td, g.Stop(contrib.StopOperator))
	})
}

func TestEveryStepOfATeardownMayFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		r := registry(t)
		c := config(r, nil)
		c.Build = func(_ context.Context, s *generations.Scope) (generations.App, error) {
			_, err := plain.Add(s.Registrar, &ownedEcho{closer: closer{j: j, err: errors.New("x")}, f: func() {}}, contrib.Owned())
			return app{stop: func(context.Context) error { panic("stop") }}, errors.Join(err,
				s.Lifetime.OnClose("panics", func(context.Context) error { panic("close") }),
				s.Lifetime.OnClose("fails", func(context.Context) error { return errors.New("x") }),
				s.Lifetime.Go("work", func(ctx context.Context) error { <-ctx.Done(); return errors.New("x") }),
			)
		}
		c.OnDrop = func() { panic("drop") }
		c.OnFault = func(string) { t.Error("work that fails while stopping is not a fault") }
		var steps []string
		for _, err := range stop(activate(t, c)).Errors() {
			steps = append(steps, err.Step)
		}
		assert.Equal(t, []string{
			generations.CleanWork, generations.CleanRelease, generations.CleanDrop, generations.CleanStop,
			generations.CleanClose, generations.CleanClose,
		}, steps)
	})
}

// TestValueThatTheLifetimeOwnsIsClosedByIt: it is left out when the contribution values are released.
func TestValueThatTheLifetimeOwnsIsClosedByIt(t *testing.T) {
	j := &journal{}
	c := config(registry(t), nil)
	c.Build = func(_ context.Context, s *generations.Scope) (generations.App, error) {
		v := &ownedEcho{closer: closer{j: j, name: "value"}, f: func() {}}
		_, err := plain.Add(s.Registrar, v, contrib.Owned())
		return app{stop: func(context.Context) error { j.add("stop hook"); return nil }}, errors.Join(err, s.Lifetime.Own(v))
	}
	stop(activate(t, c))
	assert.Equal(t, []string{"stop hook", "value"}, j.all())
}

func TestStopReturnsWithEverythingRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		let := make(chan struct{})
		var lt *generations.Lifetime
		g := activate(t, config(r, func(s *generations.Scope) error {
			lt = s.Lifetime
			return errors.Join(
				add(plain, reply(func(context.Context) error { return nil }))(s),
				s.Lifetime.OnClose("slow", func(context.Context) error { <-let; return nil }),
			)
		}))
		td := g.Stop(contrib.StopOperator)
		assert.Empty(t, plain.In(r.View(), ""))
		assert.True(t, g.Gate().Closed())
		assert.Equal(t, generations.ErrStopping, context.Cause(lt.Context()))
		assert.False(t, isClosed(td.Done()))
		close(let)
		<-td.Done()
		assert.False(t, td.Remains().Stopped.IsZero())
	})
}
