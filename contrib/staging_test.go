package contrib_test

import (
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

// cell is a small containment: a gate that can be closed, and references that remember what they were made from.
type cell struct {
	origin contrib.Origin
	closed bool
	runs   int
}

func (c *cell) Run(f func() error) (err error) {
	if c.closed {
		return contrib.ErrUnavailable
	}
	c.runs++
	defer func() {
		if recover() != nil {
			err = errors.New("the plugin's code panicked")
		}
	}()
	return f()
}

func (c *cell) Ref(i contrib.RefInfo) contrib.Ref { return &cellRef{c, i} }

type cellRef struct {
	cell *cell
	info contrib.RefInfo
}

func (r *cellRef) Origin() contrib.Origin { return r.cell.origin }
func (r *cellRef) Point() string          { return r.info.Point }
func (r *cellRef) Label() string          { return r.info.Label }

func reasons(ds []contrib.Diagnostic) []any {
	out := []any{}
	for _, d := range ds {
		out = append(out, d.Params["reason"])
	}
	return out
}

// GEN-1
func TestStagedCommittedRevoked(t *testing.T) {
	w := newWorld(t)
	origin := plugin(t, "acme.a", "g1")
	c := &cell{origin: origin}
	s := w.Stage(origin, c)
	assert.Equal(t, origin, s.Registrar().Origin())
	log := &journal{}
	h := w.own(s.Registrar(), pointP, log, "v", contrib.Label("mine"))
	assert.Empty(t, w.list())
	assert.Zero(t, h.ID())
	assert.False(t, h.Live())
	assert.Equal(t, 1, c.runs, "metadata is read through the gate")
	s.Seal()
	_, err := pointP.Add(s.Registrar(), word("late"))
	refused(t, err, contrib.ErrSealed, "sealed")
	require.NoError(t, s.Commit())
	assert.Equal(t, []string{"guard of v"}, w.list())
	assert.Positive(t, h.ID())
	assert.True(t, h.Live())
	e := pointP.Entries(w.View(), "")[0]
	assert.Equal(t, origin, e.Origin)
	ref := e.Value.(*proxy).ref.(*cellRef)
	assert.Same(t, h, ref.info.Handle)
	assert.Equal(t, "mine", ref.Label())
	assert.Equal(t, "test.p", ref.Point())
	require.Error(t, s.Commit(), "a commit happens once")
	s.Revoke(contrib.StopOperator)
	assert.Empty(t, w.list())
	assert.False(t, h.Live())
	s.Revoke(contrib.StopOperator)
	assert.Len(t, w.seen(), 2)
	assert.Empty(t, log.all(), "the registry does not close a plugin's values")
	require.ErrorIs(t, s.Commit(), contrib.ErrClosed)
	assert.Empty(t, s.Release(nil))
	assert.Empty(t, s.Release(nil))
	assert.Equal(t, []string{"v"}, log.all())
}

// GEN-2
func TestCommitFailsWhileAnAddIsPrepared(t *testing.T) {
	w := newWorld(t)
	s := w.Stage(plugin(t, "acme.a", "g1"), &cell{})
	inside, leave, added := make(chan struct{}), make(chan struct{}), make(chan error)
	_, err := pointP.Add(s.Registrar(), word("first"))
	require.NoError(t, err)
	go func() {
		_, err := pointP.Add(s.Registrar(), nameFunc(func() string {
			close(inside)
			<-leave
			return "slow"
		}))
		added <- err
	}()
	<-inside
	s.Seal()
	require.ErrorIs(t, s.Commit(), contrib.ErrRegistrationPending)
	assert.Zero(t, w.View().Version())
	close(leave)
	require.NoError(t, <-added)
	require.NoError(t, s.Commit())
	assert.Equal(t, []string{"guard of first", "guard of slow"}, w.list())
	assert.Len(t, w.seen(), 1)
}

func TestAddThatEndsItsGoroutineIsOver(t *testing.T) {
	w := newWorld(t)
	s := w.Stage(plugin(t, "acme.a", "g1"), nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = pointP.Add(s.Registrar(), nameFunc(func() string {
			runtime.Goexit()
			return ""
		}))
	}()
	<-done
	require.NoError(t, s.Commit())
}

// GEN-4
func TestRefusedEntriesAreReportedAndTheRestIsPublished(t *testing.T) {
	w := newWorld(t)
	s := w.Stage(plugin(t, "acme.a", "g1"), &cell{})
	_, err := unknown.Add(s.Registrar(), word("v"))
	refused(t, err, contrib.ErrUnknownPoint, "unknownPoint")
	_, err = unguarded.Add(s.Registrar(), word("v"))
	refused(t, err, contrib.ErrUnguarded, "unguarded")
	require.NoError(t, s.Commit())
	assert.Zero(t, w.View().Version())
	assert.Equal(t, []any{"unknownPoint", "unguarded"}, reasons(s.Refused()))
	kept := w.diagnostics(contrib.CodeRefused)
	assert.Equal(t, s.Refused(), kept)
	assert.Equal(t, contrib.Error, kept[0].Severity)
	assert.Equal(t, "plugin:acme.a@g1", kept[0].Origin.String())
}

type badToken struct{}

func (badToken) Error() string          { return "secret" }
func (badToken) Params() map[string]any { return map[string]any{"token": "chat", "reason": "no"} }

func TestDescribeMayNameWhatItRefused(t *testing.T) {
	p := define("test.token", func(s *contrib.Spec[thing]) {
		s.Describe = func(thing) (any, error) { return nil, badToken{} }
	})
	r, err := contrib.New(p)
	require.NoError(t, err)
	s := r.Stage(plugin(t, "acme.a", "g1"), nil)
	_, err = p.Add(s.Registrar(), word("v"))
	refused(t, err, contrib.ErrInvalidContribution, "invalidContribution")
	require.ErrorIs(t, err, badToken{})
	d := s.Refused()[0]
	assert.Equal(t, map[string]any{"point": "test.token", "reason": "invalidContribution", "token": "chat"}, d.Params)
	assert.NotContains(t, d.Message, "secret")
}

func TestCycleThatShowsAtTheCommitIsRefusedThen(t *testing.T) {
	w := newWorld(t)
	s := w.Stage(plugin(t, "acme.a", "g1"), nil)
	r := s.Registrar()
	h, err := pointP.Add(r, word("one"), named("a"), replaces("b"))
	require.NoError(t, err)
	_, err = pointP.Add(r, word("two"), named("b"), replaces("a"))
	refused(t, err, contrib.ErrReplaceCycle, "replaceCycle")
	_, err = pointP.Add(r, word("three"))
	require.NoError(t, err)
	w.add("first", named("b"), replaces("a"))
	require.NoError(t, s.Commit())
	assert.Equal(t, []string{"first", "guard of three"}, w.list())
	assert.False(t, h.Live())
	refusals := s.Refused()
	assert.Equal(t, []any{"replaceCycle", "replaceCycle"}, reasons(refusals))
	assert.Equal(t, []string{"a", "b", "a"}, refusals[1].Params["names"])
}

// GEN-10
func TestThreadReleasedWhileItsEntryIsStaged(t *testing.T) {
	w := newWorld(t)
	s := w.Stage(plugin(t, "acme.a", "g1"), nil)
	h, err := pointP.Add(s.Registrar(), word("t"), inThread(t1))
	require.NoError(t, err)
	_, err = pointP.Add(s.Registrar(), word("w"))
	require.NoError(t, err)
	n, err := w.ReleaseThread(t1)
	require.NoError(t, err)
	assert.Zero(t, n)
	_, err = pointP.Add(s.Registrar(), word("again"), inThread(t1))
	refused(t, err, contrib.ErrThreadReleased, "threadReleased")
	require.NoError(t, s.Commit())
	assert.Equal(t, []string{"guard of w"}, w.list(t1))
	assert.Equal(t, []any{"threadReleased", "threadReleased"}, reasons(w.diagnostics(contrib.CodeRefused)))
	h.Revoke()
	assert.Len(t, w.seen(), 1)
}

// GEN-11
func TestAddingForAThreadWhileActive(t *testing.T) {
	w := newWorld(t)
	s := w.activate("acme.a", "g1", func(*contrib.Registrar) {})
	log := &journal{}
	h := w.own(s.Registrar(), pointP, log, "t", inThread(t1))
	assert.True(t, h.Live())
	assert.Equal(t, []string{"guard of t"}, w.list(t1))
	assert.Empty(t, w.list())
	_, err := pointP.Add(s.Registrar(), word("w"))
	refused(t, err, contrib.ErrSealed, "sealed")
	_, err = pointP.Add(s.Registrar(), word("w"), inThread(""))
	refused(t, err, contrib.ErrInvalidScope, "invalidScope")
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		_, err := pointP.Add(b.With(s.Registrar()), word("batched"), inThread(t1))
		return err
	}))
	assert.Equal(t, []string{"guard of t", "guard of batched"}, w.list(t1))
	s.Revoke(contrib.StopFault)
	assert.Empty(t, w.list(t1))
	_, err = pointP.Add(s.Registrar(), word("t"), inThread(t1))
	refused(t, err, contrib.ErrClosed, "closed")
	require.ErrorIs(t, err, contrib.ErrRevoked)
	assert.Equal(t, []any{"sealed", "invalidScope", "closed"}, reasons(s.Refused()))
	assert.Empty(t, s.Release(nil))
	assert.Equal(t, []string{"t"}, log.all())
}

func TestHandleRevokedWhileStagingCancelsItsEntry(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	var cancelled *contrib.Handle
	s := w.activate("acme.a", "g1", func(r *contrib.Registrar) {
		cancelled = w.own(r, pointP, log, "a")
		_, err := pointP.Add(r, word("b"))
		require.NoError(t, err)
		cancelled.Revoke()
	})
	assert.Equal(t, []string{"guard of b"}, w.list())
	assert.Zero(t, cancelled.ID())
	s.Revoke(contrib.StopOperator)
	assert.Empty(t, s.Release(nil))
	assert.Equal(t, []string{"a"}, log.all(), "it was accepted, so its value is released")
}

func TestReleaseClosesNewestFirstAndEachOnce(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	shared := &owned{name: "shared", log: log}
	failing := &owned{name: "failing", log: log, err: errNo}
	skipped := &owned{name: "skipped", log: log}
	s := w.activate("acme.a", "g1", func(r *contrib.Registrar) {
		for _, v := range []thing{&owned{name: "first", log: log}, shared, failing, skipped, shared} {
			_, err := pointP.Add(r, v, contrib.Owned())
			require.NoError(t, err)
		}
	})
	errs := s.Release(func(v any) bool { return v == any(skipped) })
	assert.Empty(t, w.list(), "it revoked first")
	assert.Equal(t, []string{"shared", "failing", "first"}, log.all())
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], errNo)
}

func TestClosedGateRefusesAnAdd(t *testing.T) {
	w := newWorld(t)
	c := &cell{closed: true}
	s := w.Stage(plugin(t, "acme.a", "g1"), c)
	_, err := pointP.Add(s.Registrar(), word("v"))
	refused(t, err, contrib.ErrClosed, "closed")
}

func TestModuleOfAPluginStaysThePlugins(t *testing.T) {
	w := newWorld(t)
	s := w.Stage(plugin(t, "acme.a", "g1"), nil)
	child, err := s.Registrar().Module("part")
	require.NoError(t, err)
	_, err = pointP.Add(child, word("a"))
	require.NoError(t, err)
	_, err = pointP.Add(s.Registrar(), word("b"))
	require.NoError(t, err)
	gone, err := s.Registrar().Module("gone")
	require.NoError(t, err)
	_, err = pointP.Add(gone, word("c"))
	require.NoError(t, err)
	gone.Close(contrib.StopShutdown)
	require.NoError(t, s.Commit())
	assert.Equal(t, []string{"guard of a", "guard of b"}, w.list())
	assert.Equal(t, "plugin:acme.a@g1", pointP.Entries(w.View(), "")[0].Origin.String())
	child.Close(contrib.StopShutdown)
	assert.Equal(t, []string{"guard of b"}, w.list())
}

func TestRefusalsOfOneStagingAreBounded(t *testing.T) {
	w := newWorld(t)
	s := w.activate("acme.a", "g1", func(*contrib.Registrar) {})
	s.Revoke(contrib.StopFault)
	for range 1000 {
		_, err := pointP.Add(s.Registrar(), word("v"))
		require.Error(t, err)
	}
	assert.Len(t, s.Refused(), 256)
}

func TestRevokedStagingOfAFailedActivationPublishesNothing(t *testing.T) {
	w := newWorld(t)
	s := w.Stage(plugin(t, "acme.a", "g1"), nil)
	h, err := pointP.Add(s.Registrar(), word("v"))
	require.NoError(t, err)
	s.Revoke(contrib.StopFault)
	assert.Zero(t, w.View().Version())
	h.Revoke()
	require.ErrorIs(t, s.Commit(), contrib.ErrRevoked)
	w.Close()
	late := w.Stage(plugin(t, "acme.b", "g1"), nil)
	require.ErrorIs(t, late.Commit(), contrib.ErrRevoked)
}

// loose is a containment that its references do not keep.
type loose struct {
	origin contrib.Origin
	_      [2]*int // large enough to be an allocation of its own
}

func (l *loose) Run(f func() error) error          { return f() }
func (l *loose) Ref(i contrib.RefInfo) contrib.Ref { return bound{l.origin, i} }

type bound struct {
	origin contrib.Origin
	info   contrib.RefInfo
}

func (b bound) Origin() contrib.Origin { return b.origin }
func (b bound) Point() string          { return b.info.Point }
func (b bound) Label() string          { return b.info.Label }

// A view that is still read keeps guards and handles, but nothing of the generation behind them.
func TestOldViewDoesNotKeepAGeneration(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	var root weak.Pointer[loose]
	var value weak.Pointer[owned]
	view := func() *contrib.View {
		l := &loose{origin: plugin(t, "acme.a", "g1")}
		root = weak.Make(l)
		s := w.Stage(l.origin, l)
		v := &owned{name: "v", log: log}
		value = weak.Make(v)
		_, err := pointP.Add(s.Registrar(), v, contrib.Owned())
		require.NoError(t, err)
		_, err = unguarded.Add(s.Registrar(), v)
		require.Error(t, err)
		require.NoError(t, s.Commit())
		view := w.View()
		s.Revoke(contrib.StopFault)
		require.Empty(t, s.Release(nil))
		return view
	}()
	for range 3 {
		runtime.GC()
	}
	assert.Nil(t, root.Value())
	assert.Nil(t, value.Value())
	assert.Equal(t, []string{"guard of v"}, namesIn(t, pointP, view))
	assert.Equal(t, []string{"v"}, log.all())
}
