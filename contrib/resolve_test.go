package contrib_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

const (
	t1 contrib.ThreadID = "T1"
	t2 contrib.ThreadID = "T2"
)

var (
	order    = contrib.Order
	named    = contrib.Named
	replaces = contrib.ReplaceTarget
	inThread = contrib.InThread
)

func sameList(a, b []thing) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// REG-1
func TestUnusedPointIsEmpty(t *testing.T) {
	w := newWorld(t)
	v := w.View()
	assert.Empty(t, pointP.In(v, ""))
	assert.Empty(t, pointP.In(v, t1))
	assert.Empty(t, pointP.Entries(v, t1))
	assert.Empty(t, pointP.Infos(v, ""))
	assert.Zero(t, pointP.Revision(v))
	assert.Zero(t, v.Version())
	assert.Empty(t, unknown.In(v, ""), "a point that is not admitted")
	assert.Empty(t, pointP.In(nil, ""), "no view")
	assert.Empty(t, new(contrib.Point[thing]).In(v, ""), "a point that was not defined")
	assert.Empty(t, pointP.In(&contrib.View{}, ""), "an empty view")
}

// REG-2
func TestOrderThenRegistration(t *testing.T) {
	w := newWorld(t)
	w.add("a")
	w.add("late", order(10))
	w.add("b")
	w.add("early", order(-10))
	assert.Equal(t, []string{"early", "a", "b", "late"}, w.list())
}

// REG-3
func TestListDoesNotChange(t *testing.T) {
	w := newWorld(t)
	w.add("a")
	first, second := pointP.In(w.View(), ""), pointP.In(w.View(), "")
	w.add("b")
	third := pointP.In(w.View(), "")
	assert.True(t, sameList(first, second))
	assert.False(t, sameList(first, third))
	assert.Len(t, third, 2)
	assert.Len(t, first, 1)
	assert.Equal(t, "a", first[0].Name())
}

func TestPublicationKeepsListsOfOtherPointsAndThreads(t *testing.T) {
	w := newWorld(t)
	w.add("a")
	w.add("mine", inThread(t1))
	p, mine := pointP.In(w.View(), ""), pointP.In(w.View(), t1)
	w.addTo(pointQ, "q")
	assert.True(t, sameList(p, pointP.In(w.View(), "")), "another point")
	w.add("other", inThread(t2))
	assert.True(t, sameList(p, pointP.In(w.View(), "")), "another thread")
	assert.True(t, sameList(mine, pointP.In(w.View(), t1)), "another thread")
}

// REG-4
func TestRevisionOfAPoint(t *testing.T) {
	w := newWorld(t)
	h := w.add("a")
	r1 := pointP.Revision(w.View())
	assert.Positive(t, r1)
	w.addTo(pointQ, "q")
	assert.Equal(t, r1, pointP.Revision(w.View()))
	h.Revoke()
	r2 := pointP.Revision(w.View())
	assert.Greater(t, r2, r1)
	h.Revoke()
	assert.Equal(t, r2, pointP.Revision(w.View()))
}

// REG-6
func TestReplaceAndRestore(t *testing.T) {
	w := newWorld(t)
	w.add("d", named("x"))
	w.add("o")
	r := w.add("r", replaces("x"))
	assert.Equal(t, []string{"o", "r"}, w.list())
	r.Revoke()
	assert.Equal(t, []string{"d", "o"}, w.list())
}

// REG-7
func TestLaterReplacementWinsAndTheOtherIsReportedOnce(t *testing.T) {
	w := newWorld(t)
	w.add("d", named("x"))
	h1 := w.add("r1", replaces("x"))
	h2 := w.add("r2", replaces("x"))
	assert.Equal(t, []string{"r2"}, w.list())
	assert.Equal(t, []string{"r2"}, w.list(t1))
	w.add("mine", inThread(t1), replaces("x"))
	h4 := w.add("r4", replaces("x"))
	h4.Revoke()
	conflicts := w.diagnostics(contrib.CodeReplaceConflict)
	require.Len(t, conflicts, 3, "r1 once, r2 in T1 once, r4 in T1 once")
	d := conflicts[0]
	assert.Equal(t, contrib.Warning, d.Severity)
	assert.Equal(t, h1.ID(), d.EntryID)
	assert.Equal(t, map[string]any{
		"point": "test.p", "target": "x", "entryId": h1.ID(), "origin": "builtin",
		"winnerEntryId": h2.ID(), "winnerOrigin": "builtin", "threadId": "",
	}, d.Params)
	w.list()
	w.list(t1)
	assert.Len(t, w.diagnostics(contrib.CodeReplaceConflict), 3, "reading adds none")
}

// REG-8
func TestThreadReplacementBeatsALaterWorkspaceOne(t *testing.T) {
	w := newWorld(t)
	w.add("d", named("x"))
	w.add("t", inThread(t1), replaces("x"))
	h := w.add("w", replaces("x"))
	assert.Equal(t, []string{"t"}, w.list(t1))
	assert.Equal(t, []string{"w"}, w.list(t2))
	assert.Equal(t, []string{"w"}, w.list())
	conflicts := w.diagnostics(contrib.CodeReplaceConflict)
	require.Len(t, conflicts, 1)
	assert.Equal(t, h.ID(), conflicts[0].EntryID)
	assert.Equal(t, "T1", conflicts[0].Params["threadId"])
}

// REG-9
func TestTargetBelongsToOnePoint(t *testing.T) {
	w := newWorld(t)
	w.add("p", named("x"))
	w.addTo(pointQ, "q", named("x"))
	w.add("r", replaces("x"))
	assert.Equal(t, []string{"r"}, w.list())
	assert.Equal(t, []string{"q"}, w.listOf(pointQ))
}

// REG-10
func TestReplacementThatCameFirstShadowsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.add("r", replaces("x"))
	assert.Equal(t, []string{"r"}, w.list())
	d := w.add("d", named("x"))
	assert.Equal(t, []string{"r"}, w.list())
	assert.True(t, d.Live())
	last := w.seen()[len(w.seen())-1].Changes[0]
	assert.False(t, last.Workspace, "the list is the same")
	assert.Equal(t, uint64(2), last.Revision, "the point is not")
}

// REG-11
func TestChainOfReplacements(t *testing.T) {
	for _, c := range []struct {
		name, revoke string
		want         []string
	}{
		{"revoke the end", "c", []string{"b"}},
		{"revoke the middle", "b", []string{"a", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			handles := map[string]*contrib.Handle{
				"a": w.add("a", named("x")),
				"b": w.add("b", named("y"), replaces("x")),
				"c": w.add("c", replaces("y")),
			}
			assert.Equal(t, []string{"c"}, w.list())
			handles[c.revoke].Revoke()
			assert.Equal(t, c.want, w.list())
		})
	}
}

func TestWorkspaceReplacementShadowsTheNamedEntryOfAThread(t *testing.T) {
	w := newWorld(t)
	w.add("mine", inThread(t1), named("x"))
	assert.Equal(t, []string{"mine"}, w.list(t1))
	r := w.add("r", replaces("x"))
	assert.Equal(t, []string{"r"}, w.list(t1))
	r.Revoke()
	assert.Equal(t, []string{"mine"}, w.list(t1))
}

func TestTwoEntriesWithOneNameAreBothShadowed(t *testing.T) {
	w := newWorld(t)
	w.add("a", named("x"))
	w.add("b", named("x"))
	w.add("r", replaces("x"), order(-5))
	assert.Equal(t, []string{"r"}, w.list())
}

func TestInfosNameWhatShadows(t *testing.T) {
	w := newWorld(t)
	w.add("d", named("x"))
	lost := w.add("lost", replaces("x"))
	r := w.add("r", replaces("x"))
	w.add("o")
	infos := pointP.Infos(w.View(), "")
	require.Len(t, infos, 4)
	assert.Equal(t, []uint64{3, 4, 1, 2}, []uint64{infos[0].ID, infos[1].ID, infos[2].ID, infos[3].ID})
	assert.Equal(t, r.ID(), infos[2].ShadowedBy)
	assert.Equal(t, r.ID(), infos[3].ShadowedBy)
	assert.Equal(t, lost.ID(), infos[3].ID)
	assert.Zero(t, infos[0].ShadowedBy)
}

// REG-13
func TestThreadAddsToTheWorkspace(t *testing.T) {
	w := newWorld(t)
	w.add("w")
	w.add("e", inThread(t1), order(-5))
	w.add("l", inThread(t1), order(5))
	assert.Equal(t, []string{"e", "w", "l"}, w.list(t1))
	assert.Equal(t, []string{"w"}, w.list(t2))
	assert.True(t, sameList(pointP.In(w.View(), ""), pointP.In(w.View(), t2)))
	assert.True(t, sameList(pointP.In(w.View(), t1), pointP.In(w.View(), t1)))
}

func TestThreadIdsOfAllLengthsAreTold(t *testing.T) {
	w := newWorld(t)
	ids := []contrib.ThreadID{
		"a", "b", "ab", "ba", "abcdefg", "gbcdefa", "12345678", "x2345678", "x-12345678", "y-12345678", "z-12345678",
		"0-12345678", "1-12345678", "2-12345678", "3-12345678", "4-12345678", "5-12345678", "\x00", "\x00\x00",
	}
	for _, id := range ids {
		w.add("of "+string(id), inThread(id))
	}
	for _, id := range ids {
		assert.Equal(t, []string{"of " + string(id)}, w.list(id))
		assert.Empty(t, w.list(id+"?"))
	}
}

// REG-23
func TestEntriesAndValuesAgree(t *testing.T) {
	w := newWorld(t)
	w.add("d", named("x"), order(3))
	w.add("o")
	w.add("lost", replaces("x"))
	r := w.add("r", replaces("x"), order(1))
	assert.Equal(t, []string{"o", "r"}, w.list())
	entries := pointP.Entries(w.View(), "")
	require.Len(t, entries, 2)
	e := entries[1]
	assert.Equal(t, r.ID(), e.ID)
	assert.Equal(t, contrib.Builtin(), e.Origin)
	assert.Equal(t, 1, e.Order)
	assert.Empty(t, e.Name)
	assert.Equal(t, "x", e.Replaces)
	assert.True(t, e.Occupies("x"))
	assert.False(t, entries[0].Occupies("x"))
	assert.Equal(t, "r", e.Meta)
	assert.Equal(t, "word", e.Label)
	assert.Equal(t, "test.p", e.Point)
	assert.Equal(t, "contribution:4", e.String())
}

func TestReadingDoesNotAllocate(t *testing.T) {
	w := newWorld(t)
	for i := range 10 {
		w.add(numbered(i))
	}
	w.add("t", inThread(t1))
	v := w.View()
	for name, read := range map[string]func(){
		"workspace":        func() { pointP.In(v, "") },
		"thread":           func() { pointP.In(v, t1) },
		"other thread":     func() { pointP.In(v, t2) },
		"entries":          func() { pointP.Entries(v, "") },
		"thread's entries": func() { pointP.Entries(v, t1) },
		"newest view":      func() { pointP.In(w.View(), "") },
		"revision":         func() { pointP.Revision(v) },
		"unused point":     func() { pointQ.In(v, t1) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, read), name)
	}
}

// REG-28
func TestTenThousandEntries(t *testing.T) {
	w := newWorld(t)
	r, err := w.Builtin().Module("many")
	require.NoError(t, err)
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		for i := range 10_000 {
			if _, err := pointP.Add(b.With(r), word(numbered(i)), order(i%100)); err != nil {
				return err
			}
		}
		return nil
	}))
	require.Len(t, w.seen(), 1)
	v := w.View()
	assert.Equal(t, uint64(1), pointP.Revision(v))
	entries := pointP.Entries(v, "")
	require.Len(t, entries, 10_000)
	for i := 1; i < len(entries); i++ {
		a, b := &entries[i-1], &entries[i]
		require.True(t, a.Order < b.Order || a.Order == b.Order && a.ID < b.ID)
	}
	assert.Zero(t, testing.AllocsPerRun(1000, func() { pointP.In(v, "") }))
	r.Close(contrib.StopShutdown)
	require.Len(t, w.seen(), 2)
	assert.Equal(t, uint64(2), pointP.Revision(w.View()))
	assert.Empty(t, pointP.In(w.View(), ""))
	assert.Len(t, pointP.In(v, ""), 10_000, "a view never changes")
}

func TestThreadsOfALargePointAreComputedOnce(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Batch(func(b *contrib.Batch) error {
		for i := range 3000 {
			if _, err := pointP.Add(b.With(w.Builtin()), word(numbered(i)), order(i%7)); err != nil {
				return err
			}
		}
		return nil
	}))
	w.add("mine", inThread(t1), order(3))
	v := w.View()
	first := pointP.In(v, t1)
	assert.Len(t, first, 3001)
	assert.True(t, sameList(first, pointP.In(v, t1)))
	assert.Equal(t, namesIn(t, pointP, v, t1), namesIn(t, pointP, v, t1))
	assert.Zero(t, testing.AllocsPerRun(10, func() { pointP.In(v, t1); pointP.Entries(v, t1); pointP.Entries(v, "") }))
}
