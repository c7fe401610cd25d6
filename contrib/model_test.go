package contrib_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/contrib"
)

// history plays random operations on a registry and on the naive list.
type history struct {
	registry  *contrib.Registry
	want      *naive
	handles   map[string]*contrib.Handle
	modules   map[string]*contrib.Registrar
	stagings  map[string]*contrib.Staging
	event     *contrib.Event
	conflicts []contrib.Diagnostic
	revisions map[*contrib.Point[thing]]uint64
	version   uint64
	made      int // names for values and generations
}

func newHistory(t *rapid.T) *history {
	r, err := contrib.New(pointP, pointHeld)
	require.NoError(t, err)
	h := &history{
		registry: r, want: &naive{}, handles: map[string]*contrib.Handle{},
		modules: map[string]*contrib.Registrar{"": r.Builtin()}, stagings: map[string]*contrib.Staging{},
		revisions: map[*contrib.Point[thing]]uint64{},
	}
	r.Subscribe("history", func(e contrib.Event) { h.event = &e })
	r.SubscribeDiagnostics("history", func(d contrib.Diagnostic) {
		if d.Code == contrib.CodeReplaceConflict {
			h.conflicts = append(h.conflicts, d)
		}
	})
	return h
}

// add draws an entry and adds it through r, of owner, to the registry and to n. scoped asks for a thread.
func (h *history) add(t *rapid.T, n *naive, r *contrib.Registrar, owner string, scoped bool) {
	h.made++
	e := &naiveEntry{
		point:    rapid.SampledFrom(modelPoints).Draw(t, "point"),
		value:    fmt.Sprint("e", h.made),
		order:    rapid.IntRange(-1, 1).Draw(t, "order"),
		named:    rapid.SampledFrom(modelNames).Draw(t, "named"),
		replaces: rapid.SampledFrom(modelNames).Draw(t, "replaces"),
		owner:    owner,
	}
	if scoped || rapid.Bool().Draw(t, "scoped") {
		e.thread = rapid.SampledFrom(modelThreads[1:]).Draw(t, "thread")
	}
	opts := []contrib.Option{order(e.order)}
	if e.named != "" {
		opts = append(opts, named(e.named))
	}
	if e.replaces != "" {
		opts = append(opts, replaces(e.replaces))
	}
	if e.thread != "" {
		opts = append(opts, inThread(e.thread))
	}
	handle, err := e.point.Add(r, word(e.value), opts...)
	if r.Origin().Kind() == "plugin" {
		e.value = "guard of " + e.value
	}
	if e.named != "" && e.named == e.replaces {
		require.ErrorIs(t, err, contrib.ErrOwnName)
		return
	}
	n.entries = append(n.entries, e)
	if n.cyclic() {
		n.entries = n.entries[:len(n.entries)-1]
		require.ErrorIs(t, err, contrib.ErrReplaceCycle)
		return
	}
	require.NoError(t, err)
	n.last++
	e.id = n.last
	h.handles[e.value] = handle
}

// step draws one operation and does it, through b when that is given.
func (h *history) step(t *rapid.T, n *naive, b *contrib.Batch) {
	with := func(r *contrib.Registrar) *contrib.Registrar {
		if b != nil {
			return b.With(r)
		}
		return r
	}
	module := rapid.SampledFrom(modelModules).Draw(t, "module")
	switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
	case op < 5:
		if h.modules[module] == nil {
			r, err := h.registry.Builtin().Module(module)
			require.NoError(t, err)
			h.modules[module] = r
		}
		h.add(t, n, with(h.modules[module]), module, false)
	case op < 8:
		if len(n.entries) == 0 {
			return
		}
		e := rapid.SampledFrom(n.entries).Draw(t, "entry")
		if handle := h.handles[e.value]; b != nil {
			b.Revoke(handle)
		} else {
			handle.Revoke()
		}
		n.remove(func(o *naiveEntry) bool { return o == e })
	case op == 8:
		thread := rapid.SampledFrom(modelThreads[1:]).Draw(t, "thread")
		release := h.registry.ReleaseThread
		if b != nil {
			release = b.ReleaseThread
		}
		count, err := release(thread)
		require.NoError(t, err)
		require.Equal(t, n.remove(func(e *naiveEntry) bool { return e.thread == thread }), count)
		n.unhold(func(h naiveHold) bool { return h.thread == thread })
	case module != "" && h.modules[module] != nil && b == nil:
		h.modules[module].Close(contrib.StopFault)
		delete(h.modules, module)
		n.remove(func(e *naiveEntry) bool { return e.owner == module })
	}
}

// batch does several operations as one change, or as none.
func (h *history) batch(t *rapid.T) {
	n := h.want.clone()
	fail := rapid.IntRange(0, 3).Draw(t, "fail") == 0
	err := h.registry.Batch(func(b *contrib.Batch) error {
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			h.step(t, n, b)
		}
		if rapid.Bool().Draw(t, "nested") {
			inner := n.clone()
			drop := rapid.Bool().Draw(t, "drop")
			err := b.Batch(func(b *contrib.Batch) error {
				for range 3 {
					h.step(t, inner, b)
				}
				if drop {
					return errNo
				}
				return nil
			})
			require.Equal(t, drop, err != nil)
			if !drop {
				n = inner
			}
		}
		h.compare(t, n, b.View(), false)
		h.compare(t, h.want, h.registry.View(), true)
		if fail {
			return errNo
		}
		return nil
	})
	require.Equal(t, fail, err != nil)
	if fail {
		return
	}
	// Entries that did not outlive the batch took no id.
	n.last = h.want.last
	for _, e := range n.entries {
		if e.id > n.last {
			n.last++
			e.id = n.last
		}
	}
	h.want = n
}

// plugin activates a plugin, adds for a thread while it is active, or stops it.
func (h *history) plugin(t *rapid.T) {
	id := rapid.SampledFrom(modelPlugins).Draw(t, "plugin")
	s := h.stagings[id]
	switch {
	case s == nil:
		h.made++
		origin, err := contrib.Plugin(id, fmt.Sprint("g", h.made))
		require.NoError(t, err)
		s = h.registry.Stage(origin, nil)
		for range rapid.IntRange(0, 4).Draw(t, "adds") {
			h.add(t, h.want, s.Registrar(), id, false)
		}
		s.Seal()
		require.NoError(t, s.Commit())
		h.stagings[id] = s
		h.want.unhold(func(h naiveHold) bool { return h.plugin == id })
	case rapid.Bool().Draw(t, "live"):
		h.add(t, h.want, s.Registrar(), id, true)
	default:
		cause := rapid.SampledFrom([]contrib.StopCause{contrib.StopFault, contrib.StopOperator}).Draw(t, "cause")
		s.Revoke(cause)
		delete(h.stagings, id)
		h.want.lose(id, cause == contrib.StopFault)
	}
}

// compare reads every list.
func (h *history) compare(t *rapid.T, n *naive, v *contrib.View, ids bool) {
	for _, p := range modelPoints {
		for _, thread := range append(modelThreads, "a thread without entries") {
			want := n.resolve(p, thread)
			entries := p.Entries(v, thread)
			values := p.In(v, thread)
			require.Len(t, entries, len(want))
			require.Len(t, values, len(want))
			for i, e := range entries {
				require.Equal(t, want[i].value, values[i].Name(), "%s of %q", p.Name(), thread)
				require.Equal(t, values[i], e.Value)
				require.Equal(t, want[i].order, e.Order)
				if ids {
					require.Equal(t, want[i].id, e.ID)
				}
			}
			infos := p.Infos(v, thread)
			for i, info := range infos {
				require.Equal(t, i < len(want), info.ShadowedBy == 0)
			}
			stand := 0
			for _, e := range entries {
				if e.Held {
					stand++
				}
			}
			require.Len(t, infos, len(n.candidates(p, thread))+stand)
		}
	}
}

// check compares the outcome of one operation that turned before into h.want.
func (h *history) check(t *rapid.T, before *naive) {
	v := h.registry.View()
	h.compare(t, h.want, v, true)
	var changes []contrib.Change
	for _, p := range []*contrib.Point[thing]{pointHeld, pointP} { // by name
		if before.state(p) == h.want.state(p) {
			continue
		}
		h.revisions[p]++
		c := contrib.Change{Point: p.Name(), Revision: h.revisions[p]}
		c.Workspace = !slices.Equal(before.resolve(p, ""), h.want.resolve(p, ""))
		own := before.ownThreads(p)
		maps.Copy(own, h.want.ownThreads(p))
		for _, thread := range slices.Sorted(maps.Keys(own)) {
			if !slices.Equal(before.resolve(p, thread), h.want.resolve(p, thread)) {
				c.Threads = append(c.Threads, thread)
			}
		}
		changes = append(changes, c)
	}
	if changes == nil {
		require.Nil(t, h.event)
	} else {
		h.version++
		require.Equal(t, &contrib.Event{Version: h.version, Changes: changes}, h.event)
	}
	h.event = nil
	require.Equal(t, h.version, v.Version())
	for _, p := range modelPoints {
		require.Equal(t, h.revisions[p], p.Revision(v))
	}
	require.Len(t, h.registry.Holds(), len(h.want.holds))
	h.checkConflicts(t)
	for _, e := range h.want.entries {
		require.True(t, h.handles[e.value].Live())
		require.Equal(t, e.id, h.handles[e.value].ID())
	}
}

// checkConflicts expects one report for each entry that lost for the first time.
func (h *history) checkConflicts(t *rapid.T) {
	var want []string
	for _, e := range h.want.entries {
		if e.reported || e.replaces == "" {
			continue
		}
		for _, thread := range modelThreads { // the workspace list first
			c := h.want.candidates(e.point, thread)
			if w := winner(c, e.replaces); slices.Contains(c, e) && w != e {
				want = append(want, fmt.Sprintf("%d lost to %d in %q", e.id, w.id, thread))
				e.reported = true
				break
			}
		}
	}
	var got []string
	for _, d := range h.conflicts {
		got = append(got, fmt.Sprintf("%d lost to %d in %q", d.EntryID, d.Params["winnerEntryId"], d.Params["threadId"]))
	}
	h.conflicts = nil
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
}

func TestRegistryAgreesWithTheNaiveList(t *testing.T) {
	t.Run("lists of publications", playHistories)
	t.Run("lists of first readers", func(t *testing.T) {
		defer contrib.SetEagerLists(-1)()
		playHistories(t)
	})
}

func playHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range rapid.IntRange(1, 60).Draw(t, "length") {
			before := h.want.clone()
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				h.batch(t)
			case 1, 2:
				h.plugin(t)
			case 3:
				id := rapid.SampledFrom(modelPlugins).Draw(t, "plugin")
				if rapid.IntRange(0, 3).Draw(t, "release") == 0 {
					h.registry.ReleaseHolds(id)
					h.want.unhold(func(h naiveHold) bool { return h.plugin == id })
				}
			default:
				h.step(t, h.want, nil)
			}
			h.check(t, before)
		}
	})
}
