package contrib_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

// REG-15
func TestReleasingAThread(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	w.own(w.Builtin(), pointP, log, "a", inThread(t1))
	w.own(w.Builtin(), pointQ, log, "b", inThread(t1))
	w.own(w.Builtin(), pointP, log, "c", inThread(t1))
	w.add("d", inThread(t2))
	w.add("w")
	before := len(w.seen())
	for _, c := range []struct {
		thread contrib.ThreadID
		want   int
	}{{t1, 3}, {t1, 0}, {"unknown", 0}} {
		n, err := w.ReleaseThread(c.thread)
		require.NoError(t, err)
		assert.Equal(t, c.want, n)
	}
	_, err := w.ReleaseThread("")
	require.ErrorIs(t, err, contrib.ErrInvalidScope)
	assert.Equal(t, []string{"c", "b", "a"}, log.all())
	assert.Len(t, w.seen(), before+1)
	assert.Equal(t, []string{"w"}, w.list(t1))
	assert.Equal(t, []string{"d", "w"}, w.list(t2))
}

// REG-16, REG-17
func TestClosingARegistrar(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	r, err := w.Builtin().Module("m")
	require.NoError(t, err)
	child, err := r.Module("child")
	require.NoError(t, err)
	assert.Equal(t, "module:child", child.Origin().String())
	w.own(r, pointP, log, "a")
	w.own(child, pointQ, log, "b")
	w.own(r, pointP, log, "c")
	w.add("d")
	before := len(w.seen())
	r.Close(contrib.StopFault)
	r.Close(contrib.StopFault)
	child.Close(contrib.StopFault)
	assert.Equal(t, []string{"c", "b", "a"}, log.all())
	assert.Equal(t, []string{"d"}, w.list())
	assert.Len(t, w.seen(), before+1)
	for _, closed := range []*contrib.Registrar{r, child} {
		_, err = pointP.Add(closed, word("v"))
		refused(t, err, contrib.ErrClosed, "closed")
		require.ErrorIs(t, err, contrib.ErrRevoked)
		_, err = closed.Module("n")
		require.ErrorIs(t, err, contrib.ErrRevoked)
	}
	assert.Empty(t, w.Holds(), "the cause is ignored for modules")
	var none *contrib.Registrar
	none.Close(contrib.StopShutdown)
	_, err = pointP.Add(none, word("v"))
	refused(t, err, contrib.ErrClosed, "closed")
}

// REG-18
func TestHandle(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	h := w.own(w.Builtin(), pointP, log, "mine")
	other, err := pointP.Add(w.Builtin(), &owned{name: "yours", log: log})
	require.NoError(t, err)
	assert.True(t, h.Live())
	h.Revoke()
	h.Revoke()
	other.Revoke()
	assert.Equal(t, []string{"mine"}, log.all())
	assert.Empty(t, w.list())
	assert.False(t, h.Live())
	assert.Equal(t, uint64(1), h.ID())
	var none *contrib.Handle
	none.Revoke()
	assert.False(t, none.Live())
	assert.Zero(t, none.ID())
}

type contextCloser struct{ *owned }

func (c contextCloser) Close(context.Context) error { panic(c.owned.Close()) }

func TestFailedCloseIsReported(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	r, err := w.Builtin().Module("m")
	require.NoError(t, err)
	w.own(r, pointP, log, "first")
	h, err := pointP.Add(r, &owned{"second", log, errors.New("secret")}, contrib.Owned())
	require.NoError(t, err)
	_, err = pointQ.Add(r, contextCloser{&owned{"third", log, nil}}, contrib.Owned())
	require.NoError(t, err)
	r.Close(contrib.StopShutdown)
	assert.Equal(t, []string{"third", "second", "first"}, log.all())
	failed := w.diagnostics(contrib.CodeTeardownFailed)
	require.Len(t, failed, 2)
	assert.Equal(t, map[string]any{"point": "test.p", "entryId": h.ID(), "origin": "module:m"}, failed[1].Params)
	assert.NotContains(t, failed[1].Message, "secret")
}

func TestClosingTheRegistryRefusesAddsAndLetsRevocationsPass(t *testing.T) {
	w := newWorld(t)
	h := w.add("v")
	w.Close()
	w.Close()
	_, err := pointP.Add(w.Builtin(), word("late"))
	refused(t, err, contrib.ErrClosed, "closed")
	require.Error(t, w.Batch(func(b *contrib.Batch) error {
		_, err := pointP.Add(b.With(w.Builtin()), word("late"))
		return err
	}))
	assert.Equal(t, []string{"v"}, w.list())
	h.Revoke()
	assert.Empty(t, w.list())
}

// An add that races with a close is revoked by it, or refused.
func TestAddsRacingWithAClose(t *testing.T) {
	w := newWorld(t)
	for range 50 {
		r, err := w.Builtin().Module("m")
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if h, err := pointP.Add(r, word("v")); err != nil {
					assert.ErrorIs(t, err, contrib.ErrClosed)
					assert.Nil(t, h)
				}
			})
		}
		wg.Go(func() { r.Close(contrib.StopShutdown) })
		wg.Wait()
		require.Empty(t, w.list())
	}
}

// REG-24
func TestManyWritersAndReaders(t *testing.T) {
	w := newWorld(t)
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				entries := pointP.Entries(w.View(), "")
				for i := 1; i < len(entries); i++ {
					a, b := &entries[i-1], &entries[i]
					assert.True(t, a.Order < b.Order || a.Order == b.Order && a.ID < b.ID)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range 8 {
		writers.Go(func() {
			for j := range 100 {
				h, err := pointP.Add(w.Builtin(), word("v"), order((i*31+j)%10))
				assert.NoError(t, err)
				if j >= 10 {
					h.Revoke()
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	assert.Len(t, w.list(), 80)
	assert.Len(t, w.seen(), 8*(100+90))
}
