package generations_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

type contextCloser struct{ j *journal }

func (c contextCloser) Close(ctx context.Context) error {
	c.j.add("with context: %v", ctx.Err())
	return nil
}

type emptyCloser struct{}

func (*emptyCloser) Close() error { return nil }

// lifetime returns the lifetime of an active generation.
func lifetime(t *testing.T, c generations.Config) (*generations.Lifetime, *generations.Generation) {
	t.Helper()
	var lt *generations.Lifetime
	c.Build = func(_ context.Context, s *generations.Scope) (generations.App, error) {
		lt = s.Lifetime
		return nil, nil
	}
	g := activate(t, c)
	return lt, g
}

func TestLifetimeOwns(t *testing.T) {
	j := &journal{}
	lt, g := lifetime(t, config(registry(t), nil))
	a := &closer{j: j, name: "a"}
	var none *closer
	require.NoError(t, lt.Own(a))
	require.NoError(t, lt.Own(&closer{j: j, name: "b"}))
	require.NoError(t, lt.Own(contextCloser{j}))
	assert.ErrorIs(t, lt.Own(a), generations.ErrOwnedTwice)
	assert.ErrorIs(t, lt.Own(nil), generations.ErrNotClosable)
	assert.ErrorIs(t, lt.Own(none), generations.ErrNotClosable)
	assert.ErrorIs(t, lt.Own("text"), generations.ErrNotClosable)
	assert.ErrorIs(t, lt.OnClose("x", nil), generations.ErrNotClosable)
	assert.Error(t, lt.Go("x", nil))
	require.NoError(t, lt.Own(&emptyCloser{}))
	require.NoError(t, lt.Own(&emptyCloser{}), "two pointers to nothing cannot be told apart")

	assert.Empty(t, stop(g).Errors())
	assert.Equal(t, []string{"with context: <nil>", "b", "a"}, j.all())
	for _, err := range []error{
		lt.Own(&closer{j: j}),
		lt.OnClose("x", func(context.Context) error { return nil }),
		lt.Go("x", func(context.Context) error { return nil }),
	} {
		assert.ErrorIs(t, err, generations.ErrStopping)
		assert.ErrorIs(t, err, contrib.ErrRevoked)
	}
	assert.Len(t, j.all(), 3)
}

// TestBackgroundWorkStartsAfterTheCommit: in the order of registration, and later work at once (RUN-13).
func TestBackgroundWorkStartsAfterTheCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		var lt *generations.Lifetime
		type callerKey struct{}
		work := func(name string) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				_, has := ctx.Deadline()
				j.add("%s %v %v", name, ctx.Value(callerKey{}), has)
				<-ctx.Done()
				return context.Cause(ctx)
			}
		}
		c := config(registry(t), func(s *generations.Scope) error {
			lt = s.Lifetime
			return errors.Join(lt.Go("a", work("a")), lt.Go("b", work("b")))
		})
		c.OnCommit = func(*generations.Generation) { synctest.Wait(); j.add("committed") }
		c.OnFault = func(work string) { t.Errorf("fault of %s", work) }
		g, err := generations.Activate(context.WithValue(context.Background(), callerKey{}, "v"), c)
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, "committed", j.all()[0])
		assert.ElementsMatch(t, []string{"a <nil> false", "b <nil> false"}, j.all()[1:])
		require.NoError(t, lt.Go("c", work("c")))
		synctest.Wait()
		assert.Equal(t, "c <nil> false", j.all()[3])
		assert.Empty(t, stop(g).Errors())
	})
}

// TestFailureOfBackgroundWork is RUN-6 as far as one generation goes.
func TestFailureOfBackgroundWork(t *testing.T) {
	for name, work := range map[string]func(ctx context.Context) error{
		"error":               func(context.Context) error { return errors.New("secret") },
		"panic":               func(context.Context) error { panic("secret") },
		"cancelled too early": func(context.Context) error { return fmt.Errorf("secret: %w", context.Canceled) },
		"ended goroutine":     func(context.Context) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []string
				carries := true
				c := config(registry(t), func(s *generations.Scope) error {
					return errors.Join(s.Lifetime.Go("fails", work), s.Lifetime.Go("waits", func(ctx context.Context) error {
						<-ctx.Done()
						return ctx.Err()
					}))
				})
				var g *generations.Generation
				c.OnCommit = func(committed *generations.Generation) { g = committed }
				c.OnFault = func(work string) {
					told = append(told, work)
					carries = generations.HasLabels()
					g.Stop(contrib.StopFault)
				}
				activate(t, c)
				synctest.Wait()
				<-g.Stop(contrib.StopFault).Done()
				assert.Equal(t, []string{"fails"}, told)
				assert.False(t, carries, "the host is told without labels")
			})
		})
	}
}

func TestFaultIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		var scope *generations.Scope
		c := config(registry(t), func(s *generations.Scope) error {
			scope = s
			s.Fault("shutdown")
			return nil
		})
		c.OnCommit = func(*generations.Generation) { assert.Zero(t, told, "not before the commit") }
		c.OnFault = func(work string) { told++; assert.Equal(t, "shutdown", work) }
		g := activate(t, c)
		scope.Fault("again")
		assert.Equal(t, 1, told)
		assert.NotNil(t, scope.Pin())
		stop(g)
	})
}
