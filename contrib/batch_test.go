package contrib_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

var errNo = errors.New("no")

// REG-20
func TestBatchIsPublishedAsOneChange(t *testing.T) {
	w := newWorld(t)
	var handles []*contrib.Handle
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		r := b.With(w.Builtin())
		for _, p := range []*contrib.Point[thing]{pointP, pointP, pointQ} {
			h, err := p.Add(r, word("v"))
			require.NoError(t, err)
			handles = append(handles, h)
			assert.Zero(t, h.ID())
			assert.False(t, h.Live())
		}
		assert.Empty(t, w.list())
		assert.Equal(t, []string{"v", "v"}, namesIn(t, pointP, b.View()))
		assert.Equal(t, []string{"v"}, namesIn(t, pointQ, b.View()))
		return nil
	}))
	assert.Equal(t, []contrib.Event{{Version: 1, Changes: []contrib.Change{
		{Point: "test.p", Revision: 1, Workspace: true},
		{Point: "test.q", Revision: 1, Workspace: true},
	}}}, w.seen())
	for i, h := range handles {
		assert.Equal(t, uint64(i+1), h.ID())
		assert.True(t, h.Live())
	}
	require.NoError(t, w.Batch(func(*contrib.Batch) error { return nil }))
	require.NoError(t, w.Batch(nil))
	assert.Len(t, w.seen(), 1, "an empty batch publishes nothing")
}

// REG-20
func TestBatchInABatchJoinsItsPublication(t *testing.T) {
	w := newWorld(t)
	var dropped *contrib.Handle
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		_, err := pointP.Add(b.With(w.Builtin()), word("outer"))
		require.NoError(t, err)
		require.NoError(t, b.Batch(func(inner *contrib.Batch) error {
			_, err := pointP.Add(inner.With(w.Builtin()), word("inner"))
			assert.Equal(t, []string{"outer", "inner"}, namesIn(t, pointP, inner.View()))
			return err
		}))
		assert.Empty(t, w.seen())
		assert.Equal(t, []string{"outer", "inner"}, namesIn(t, pointP, b.View()))
		err = b.Batch(func(inner *contrib.Batch) error {
			dropped, err = pointP.Add(inner.With(w.Builtin()), word("dropped"))
			require.NoError(t, err)
			return errNo
		})
		require.ErrorIs(t, err, errNo)
		return nil
	}))
	assert.Len(t, w.seen(), 1)
	assert.Equal(t, []string{"outer", "inner"}, w.list())
	dropped.Revoke()
	assert.False(t, dropped.Live())
	assert.Len(t, w.seen(), 1)
}

// REG-20
func TestFailedBatchPublishesNothing(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errNo },
		"panic": func() error { panic(errNo) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			log := &journal{}
			old := w.add("old")
			var h *contrib.Handle
			run := func() (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = p.(error)
					}
				}()
				return w.Batch(func(b *contrib.Batch) error {
					h = w.own(b.With(w.Builtin()), pointP, log, "new")
					b.Revoke(old)
					return fail()
				})
			}
			require.ErrorIs(t, run(), errNo)
			h.Revoke()
			assert.Equal(t, []string{"old"}, w.list())
			assert.True(t, old.Live())
			assert.Len(t, w.seen(), 1)
			assert.Empty(t, log.all(), "a value that was never published stays the caller's")
		})
	}
}

func TestBatchThatCancelsItselfPublishesNothing(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		r := b.With(w.Builtin())
		b.Revoke(w.own(r, pointP, log, "one"))
		two := w.own(r, pointP, log, "two")
		two.Revoke()
		w.own(r, pointP, log, "three", inThread(t1))
		n, err := b.ReleaseThread(t1)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		_, err = b.ReleaseThread("")
		require.ErrorIs(t, err, contrib.ErrInvalidScope)
		return nil
	}))
	assert.Empty(t, w.seen())
	assert.ElementsMatch(t, []string{"one", "two", "three"}, log.all(), "revoked, so closed")
}

func TestAClosedRegistrarOfABatchTakesOnlyItsOwn(t *testing.T) {
	w := newWorld(t)
	r, err := w.Builtin().Module("going")
	require.NoError(t, err)
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		w.own(b.With(r), pointP, &journal{}, "going")
		w.own(b.With(w.Builtin()), pointP, &journal{}, "staying")
		b.Close(r, contrib.StopShutdown)
		return nil
	}))
	assert.Equal(t, []string{"staying"}, w.list())
}

func TestBatchUsedAfterItsEnd(t *testing.T) {
	w := newWorld(t)
	var kept *contrib.Batch
	var r *contrib.Registrar
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		kept, r = b, b.With(w.Builtin())
		return nil
	}))
	_, err := pointP.Add(r, word("v"))
	require.ErrorIs(t, err, contrib.ErrBatchClosed)
	require.ErrorIs(t, kept.Batch(func(*contrib.Batch) error { return nil }), contrib.ErrBatchClosed)
	_, err = kept.ReleaseThread(t1)
	require.ErrorIs(t, err, contrib.ErrBatchClosed)
	h := w.add("v")
	kept.Revoke(h)
	kept.Close(w.Builtin(), contrib.StopShutdown)
	assert.True(t, h.Live())
	assert.Same(t, w.View(), kept.View())
	assert.Nil(t, kept.With(nil))
}

func TestBatchOfAnotherRegistryRefusesTheRegistrar(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		_, err := pointP.Add(b.With(other.Builtin()), word("v"))
		require.ErrorContains(t, err, "another registry")
		return nil
	}))
	assert.Empty(t, other.list())
}

func TestBatchReplaysOnTheStateThatItFinds(t *testing.T) {
	w := newWorld(t)
	r, err := w.Builtin().Module("m")
	require.NoError(t, err)
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		b.Close(r, contrib.StopShutdown)
		_, err := pointP.Add(b.With(r), word("late"))
		refused(t, err, contrib.ErrClosed, "closed")
		_, err = b.With(r).Module("child")
		require.ErrorIs(t, err, contrib.ErrClosed)
		_, err = pointP.Add(r, word("others may"))
		require.NoError(t, err)
		assert.Empty(t, namesIn(t, pointP, b.View()))
		return nil
	}))
	assert.Empty(t, w.list(), "the close revoked it")
	_, err = pointP.Add(r, word("v"))
	refused(t, err, contrib.ErrClosed, "closed")
}

func TestCheckThatFailsAtThePublicationFailsTheBatch(t *testing.T) {
	t.Run("cycle", func(t *testing.T) {
		w := newWorld(t)
		var h *contrib.Handle
		err := w.Batch(func(b *contrib.Batch) error {
			var err error
			h, err = pointP.Add(b.With(w.Builtin()), word("v"), named("a"), replaces("b"))
			require.NoError(t, err)
			_, err = pointQ.Add(b.With(w.Builtin()), word("q"))
			require.NoError(t, err)
			w.add("first", named("b"), replaces("a"))
			return nil
		})
		refused(t, err, contrib.ErrReplaceCycle, "replaceCycle")
		assert.Empty(t, w.listOf(pointQ))
		assert.False(t, h.Live())
	})
	t.Run("registry closed", func(t *testing.T) {
		w := newWorld(t)
		err := w.Batch(func(b *contrib.Batch) error {
			_, err := pointP.Add(b.With(w.Builtin()), word("v"))
			require.NoError(t, err)
			w.Close()
			return nil
		})
		refused(t, err, contrib.ErrClosed, "closed")
		assert.Empty(t, w.list())
	})
	t.Run("closed", func(t *testing.T) {
		w := newWorld(t)
		r, err := w.Builtin().Module("m")
		require.NoError(t, err)
		err = w.Batch(func(b *contrib.Batch) error {
			_, err := pointP.Add(b.With(r), word("v"))
			require.NoError(t, err)
			r.Close(contrib.StopShutdown)
			return nil
		})
		refused(t, err, contrib.ErrClosed, "closed")
		assert.Empty(t, w.list())
	})
}

// REG-27
func TestTwoBatchesAtOnce(t *testing.T) {
	w := newWorld(t)
	inside := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	errs := make(chan error, 2)
	stop, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		for {
			v := w.View()
			assert.Len(t, pointQ.In(v, ""), len(pointP.In(v, "")), "one of a batch's entries without the other")
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for i := range 2 {
		go func() {
			errs <- w.Batch(func(b *contrib.Batch) error {
				close(inside[i])
				<-inside[1-i]
				if _, err := pointP.Add(b.With(w.Builtin()), word("p")); err != nil {
					return err
				}
				_, err := pointQ.Add(b.With(w.Builtin()), word("q"))
				return err
			})
		}()
	}
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	close(stop)
	<-read
	assert.Len(t, w.list(), 2)
	events := w.seen()
	require.Len(t, events, 2)
	assert.Equal(t, uint64(1), events[0].Version)
	assert.Equal(t, uint64(2), events[1].Version)
}
