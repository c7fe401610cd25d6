package contrib_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

// guard activates a plugin that replaces the guarding target g.
func (w *world) guard(id, generation string, opts ...contrib.Option) *contrib.Staging {
	w.t.Helper()
	return w.activate(id, generation, func(r *contrib.Registrar) {
		_, err := pointHeld.Add(r, word(id), append([]contrib.Option{replaces("g"), order(5)}, opts...)...)
		require.NoError(w.t, err)
	})
}

func TestOnlySomeCausesHoldAGuardingTarget(t *testing.T) {
	for cause, held := range map[contrib.StopCause]bool{
		contrib.StopFault: true, contrib.StopRestart: true, contrib.StopDependency: true,
		contrib.StopOperator: false, contrib.StopShutdown: false,
	} {
		t.Run(cause.String(), func(t *testing.T) {
			assert.Equal(t, held, cause.Holds())
			w := newWorld(t)
			w.addTo(pointHeld, "default", named("g"), order(100))
			s := w.guard("acme.a", "g1")
			assert.Equal(t, []string{"guard of acme.a"}, w.listOf(pointHeld))
			s.Revoke(cause)
			assert.Len(t, w.seen(), 3)
			if !held {
				assert.Equal(t, []string{"default"}, w.listOf(pointHeld))
				assert.Empty(t, w.Holds())
				return
			}
			assert.Equal(t, []string{"denied g"}, w.listOf(pointHeld))
			e := pointHeld.Entries(w.View(), "")[0]
			assert.True(t, e.Held)
			assert.True(t, e.Occupies("g"))
			want := contrib.Hold{
				Point: "test.held", Target: "g", PluginID: "acme.a", GenerationID: "g1", Order: 5, EntryID: 2,
			}
			assert.Equal(t, []contrib.Hold{want}, w.Holds())
			assert.Equal(t, want, e.Value.(denial).hold)
			assert.Equal(t, 5, e.Order)
			assert.Equal(t, uint64(2), e.ID)
			diagnostics := w.diagnostics(contrib.CodeTargetHeld)
			require.Len(t, diagnostics, 1)
			assert.Equal(t, map[string]any{
				"point": "test.held", "target": "g", "pluginId": "acme.a", "generationId": "g1", "threadId": "",
			}, diagnostics[0].Params)
		})
	}
}

func TestHoldIsReleased(t *testing.T) {
	for name, release := range map[string]func(w *world){
		"by a commit of the plugin that replaces nothing": func(w *world) {
			w.activate("acme.a", "g2", func(*contrib.Registrar) {})
		},
		"by the operator": func(w *world) { w.ReleaseHolds("acme.a") },
		"by the end":      func(w *world) { w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.addTo(pointHeld, "default", named("g"))
			w.guard("acme.a", "g1").Revoke(contrib.StopFault)
			w.ReleaseHolds("acme.b")
			w.activate("acme.b", "g2", func(*contrib.Registrar) {})
			revision := pointHeld.Revision(w.View())
			assert.Equal(t, []string{"denied g"}, w.listOf(pointHeld))
			release(w)
			assert.Equal(t, []string{"default"}, w.listOf(pointHeld))
			assert.Empty(t, w.Holds())
			assert.Equal(t, revision+1, pointHeld.Revision(w.View()), "holds count as changes")
		})
	}
}

// No view shows the default between a fault and the next generation.
func TestCommitReplacesAHeldTargetInOnePublication(t *testing.T) {
	w := newWorld(t)
	w.addTo(pointHeld, "default", named("g"))
	w.guard("acme.a", "g1")
	w.Subscribe("s", func(contrib.Event) { assert.NotContains(t, w.listOf(pointHeld), "default") })
	w.guard("acme.a", "g2").Revoke(contrib.StopRestart)
	w.guard("acme.a", "g3")
	assert.Equal(t, []string{"guard of acme.a"}, w.listOf(pointHeld))
}

func TestOthersWaitBehindAHold(t *testing.T) {
	w := newWorld(t)
	w.addTo(pointHeld, "default", named("g"))
	w.guard("acme.a", "g1").Revoke(contrib.StopFault)
	s := w.guard("acme.b", "g1")
	assert.Equal(t, []string{"denied g"}, w.listOf(pointHeld))
	infos := pointHeld.Infos(w.View(), "")
	require.Len(t, infos, 3)
	assert.Equal(t, uint64(2), infos[1].ShadowedBy)
	assert.Equal(t, uint64(2), infos[2].ShadowedBy)
	s.Revoke(contrib.StopFault)
	assert.Len(t, w.Holds(), 2, "it was the winner, so its loss is held too")
	w.ReleaseHolds("acme.a")
	assert.Equal(t, []string{"denied g"}, w.listOf(pointHeld))
	w.ReleaseHolds("acme.b")
	assert.Equal(t, []string{"default"}, w.listOf(pointHeld))
}

func TestALoserLeavesNoHold(t *testing.T) {
	w := newWorld(t)
	loser := w.guard("acme.a", "g1")
	w.guard("acme.b", "g1")
	loser.Revoke(contrib.StopFault)
	assert.Empty(t, w.Holds())
	assert.Equal(t, []string{"guard of acme.b"}, w.listOf(pointHeld))
}

func TestTargetsThatAreNotGuardingAreNotHeld(t *testing.T) {
	w := newWorld(t)
	s := w.activate("acme.a", "g1", func(r *contrib.Registrar) {
		for _, target := range []string{"x", "family:", "family:one", "other"} {
			_, err := pointHeld.Add(r, word(target), replaces(target))
			require.NoError(t, err)
		}
	})
	s.Revoke(contrib.StopFault)
	holds := w.Holds()
	require.Len(t, holds, 1)
	assert.Equal(t, "family:one", holds[0].Target)
}

func TestRevokingASingleHandleLeavesNoHold(t *testing.T) {
	w := newWorld(t)
	w.addTo(pointHeld, "default", named("g"))
	var h *contrib.Handle
	s := w.activate("acme.a", "g1", func(r *contrib.Registrar) {
		var err error
		h, err = pointHeld.Add(r, word("v"), replaces("g"))
		require.NoError(t, err)
	})
	h.Revoke()
	assert.Equal(t, []string{"default"}, w.listOf(pointHeld))
	s.Registrar().Close(contrib.StopFault)
	s.Revoke(contrib.StopFault)
	assert.Empty(t, w.Holds())
}

func TestHoldOfAThread(t *testing.T) {
	w := newWorld(t)
	w.addTo(pointHeld, "default", named("g"))
	w.guard("acme.a", "g1", inThread(t1)).Revoke(contrib.StopFault)
	assert.Equal(t, []string{"denied g"}, w.listOf(pointHeld, t1))
	assert.Equal(t, []string{"default"}, w.listOf(pointHeld, t2))
	last := w.seen()[len(w.seen())-1].Changes[0]
	assert.False(t, last.Workspace)
	assert.Equal(t, []contrib.ThreadID{t1}, last.Threads)
	n, err := w.ReleaseThread(t1)
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.Equal(t, []string{"default"}, w.listOf(pointHeld, t1))
	assert.Empty(t, w.Holds())
}

func TestThreadReplacementStandsBesideAWorkspaceHold(t *testing.T) {
	w := newWorld(t)
	w.guard("acme.a", "g1").Revoke(contrib.StopFault)
	w.addTo(pointHeld, "mine", replaces("g"), inThread(t1))
	assert.Equal(t, []string{"mine"}, w.listOf(pointHeld, t1))
	assert.Equal(t, []string{"denied g"}, w.listOf(pointHeld))
}

func TestStandInThatPanicsKeepsTheTargetClosed(t *testing.T) {
	p := define("test.panics", func(s *contrib.Spec[thing]) {
		guarding(s)
		s.StandIn = func(contrib.Hold) thing { panic("no") }
	})
	r, err := contrib.New(p)
	require.NoError(t, err)
	_, err = p.Add(r.Builtin(), word("default"), named("g"))
	require.NoError(t, err)
	s := r.Stage(plugin(t, "acme.a", "g1"), nil)
	_, err = p.Add(s.Registrar(), word("v"), replaces("g"))
	require.NoError(t, err)
	require.NoError(t, s.Commit())
	s.Revoke(contrib.StopFault)
	entries := p.Entries(r.View(), "")
	require.Len(t, entries, 1)
	assert.Nil(t, entries[0].Value)
	assert.True(t, entries[0].Held)
}

func TestHoldsOfTheWorkspaceAndOfAThreadStandBesideEachOther(t *testing.T) {
	w := newWorld(t)
	w.addTo(pointHeld, "default", named("g"))
	w.guard("acme.a", "g1").Revoke(contrib.StopFault)
	w.guard("acme.b", "g1", inThread(t1)).Revoke(contrib.StopFault)
	assert.Equal(t, []string{"denied g", "denied g"}, w.listOf(pointHeld, t1))
	assert.Equal(t, []string{"denied g"}, w.listOf(pointHeld))
}
