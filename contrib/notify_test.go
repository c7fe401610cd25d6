package contrib_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

// REG-19
func TestVersions(t *testing.T) {
	w := newWorld(t)
	h := w.add("p")
	w.addTo(pointQ, "q")
	h.Revoke()
	assert.Equal(t, []contrib.Event{
		{Version: 1, Changes: []contrib.Change{{Point: "test.p", Revision: 1, Workspace: true}}},
		{Version: 2, Changes: []contrib.Change{{Point: "test.q", Revision: 1, Workspace: true}}},
		{Version: 3, Changes: []contrib.Change{{Point: "test.p", Revision: 2, Workspace: true}}},
	}, w.seen())
	assert.True(t, w.seen()[0].Touches("test.p"))
	assert.False(t, w.seen()[0].Touches("test.q"))
}

func TestEventsNameTheThreadsWhoseListsChanged(t *testing.T) {
	w := newWorld(t)
	change := func() contrib.Change { return w.seen()[len(w.seen())-1].Changes[0] }
	w.add("mine", inThread(t1), replaces("x"))
	assert.Equal(t, contrib.Change{Point: "test.p", Revision: 1, Threads: []contrib.ThreadID{t1}}, change())
	w.add("yours", inThread(t2))
	assert.Equal(t, contrib.Change{Point: "test.p", Revision: 2, Threads: []contrib.ThreadID{t2}}, change())
	d := w.add("d", named("x"))
	assert.Equal(t, contrib.Change{Point: "test.p", Revision: 3, Workspace: true, Threads: []contrib.ThreadID{t2}}, change())
	w.add("o")
	assert.Equal(t, []contrib.ThreadID{t1, t2}, change().Threads)
	d.Revoke()
	assert.Equal(t, contrib.Change{Point: "test.p", Revision: 5, Workspace: true, Threads: []contrib.ThreadID{t2}}, change())
}

// REG-21
func TestSubscriberThatPanics(t *testing.T) {
	w := newWorld(t)
	second := 0
	w.Subscribe("first", func(contrib.Event) { panic("no") })
	w.Subscribe("second", func(contrib.Event) { second++ })
	w.add("v")
	assert.Equal(t, []string{"v"}, w.list())
	assert.Equal(t, 1, second)
	failed := w.diagnostics(contrib.CodeObserverFailed)
	require.Len(t, failed, 1)
	assert.Equal(t, map[string]any{"subscriber": "first"}, failed[0].Params)
}

func TestDiagnosticSubscribersThatPanicDoNotGoOnForEver(t *testing.T) {
	w := newWorld(t)
	for i := range 2 {
		w.SubscribeDiagnostics(fmt.Sprint("s", i), func(contrib.Diagnostic) { panic("no") })
	}
	w.Record(contrib.Diagnostic{Code: "Note"})
	assert.Len(t, w.Diagnostics(), 1+2+4)
}

func TestSubscriberMayChangeTheRegistry(t *testing.T) {
	w := newWorld(t)
	var got []string
	w.Subscribe("adds", func(e contrib.Event) {
		got = append(got, fmt.Sprint("a", e.Version))
		if e.Version == 1 {
			w.add("more")
			assert.Len(t, w.list(), 2, "its own change is visible at once")
		}
	})
	w.Subscribe("follows", func(e contrib.Event) { got = append(got, fmt.Sprint("b", e.Version)) })
	w.add("v")
	assert.Equal(t, []string{"a1", "b1", "a2", "b2"}, got)
}

func TestCancelledSubscriberGetsNoMore(t *testing.T) {
	w := newWorld(t)
	w.add("before")
	count, notes := 0, 0
	cancel := w.Subscribe("s", func(contrib.Event) { count++ })
	cancelNotes := w.SubscribeDiagnostics("s", func(contrib.Diagnostic) { notes++ })
	w.add("v")
	w.Record(contrib.Diagnostic{Code: "Note"})
	cancel()
	cancel()
	cancelNotes()
	w.add("v")
	w.Record(contrib.Diagnostic{Code: "Note"})
	assert.Equal(t, 1, count)
	assert.Equal(t, 1, notes)
	w.Subscribe("none", nil)()
	w.SubscribeDiagnostics("none", nil)()
}

// While one goroutine tells, another one leaves its event to it.
func TestEventsArriveInOrderFromWhoeverTells(t *testing.T) {
	w := newWorld(t)
	var got []uint64
	busy, done := make(chan struct{}), make(chan struct{})
	w.Subscribe("slow", func(e contrib.Event) {
		got = append(got, e.Version)
		if e.Version == 1 {
			close(busy)
			<-done
		}
	})
	told := make(chan struct{})
	go func() {
		defer close(told)
		w.add("one")
	}()
	<-busy
	w.add("two")
	w.add("three")
	assert.Len(t, w.list(), 3)
	close(done)
	<-told
	assert.Equal(t, []uint64{1, 2, 3}, got)
}

func TestOwnedValuesAreClosedAfterTheEvent(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	h := w.own(w.Builtin(), pointP, log, "closed")
	w.Subscribe("s", func(contrib.Event) { log.add("told") })
	h.Revoke()
	assert.Equal(t, []string{"told", "closed"}, log.all())
}

func TestTheNewestDiagnosticsAreKept(t *testing.T) {
	w := newWorld(t)
	var offered []uint64
	w.SubscribeDiagnostics("s", func(d contrib.Diagnostic) {
		offered = append(offered, d.Seq)
		d.Params["n"] = "changed"
	})
	for i := range 300 {
		w.Record(contrib.Diagnostic{Code: "Note", Severity: contrib.Info, Params: map[string]any{"n": i}})
	}
	kept := w.Diagnostics()
	require.Len(t, kept, 256)
	assert.Len(t, offered, 300)
	assert.Equal(t, uint64(45), kept[0].Seq)
	assert.Equal(t, 44, kept[0].Params["n"])
	assert.Equal(t, uint64(300), kept[255].Seq)
	assert.False(t, kept[0].Time.IsZero())
}
