package contrib_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/contrib"
)

// script is what one goroutine does; it is drawn beforehand, because drawing is not for several goroutines.
type script []move

type move struct {
	kind            int
	point           *contrib.Point[thing]
	order, pick     int
	named, replaces string
	thread          contrib.ThreadID
	fail            bool
}

func drawScript(t *rapid.T) script {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{
			kind:     rapid.IntRange(0, 9).Draw(t, "kind"),
			point:    rapid.SampledFrom(modelPoints).Draw(t, "point"),
			order:    rapid.IntRange(-1, 1).Draw(t, "order"),
			pick:     rapid.IntRange(0, 1000).Draw(t, "pick"),
			named:    rapid.SampledFrom(modelNames).Draw(t, "named"),
			replaces: rapid.SampledFrom(modelNames).Draw(t, "replaces"),
			thread:   rapid.SampledFrom(modelThreads).Draw(t, "thread"),
			fail:     rapid.Bool().Draw(t, "fail"),
		}
	}), 5, 40).Draw(t, "script")
}

// player plays one script.
type player struct {
	t       assert.TestingT
	r       *contrib.Registry
	plugin  string
	handles []*contrib.Handle
	started int
}

func (m move) add(r *contrib.Registrar) (*contrib.Handle, error) {
	opts := []contrib.Option{order(m.order)}
	if m.named != "" {
		opts = append(opts, named(m.named))
	}
	if m.replaces != "" && m.replaces != m.named {
		opts = append(opts, replaces(m.replaces))
	}
	if m.thread != "" {
		opts = append(opts, inThread(m.thread))
	}
	return m.point.Add(r, word("w"), opts...)
}

func (p *player) play(s script) {
	for _, m := range s {
		switch {
		case m.kind < 4:
			p.keep(m.add(p.r.Builtin()))
		case m.kind < 6 && len(p.handles) > 0:
			p.handles[m.pick%len(p.handles)].Revoke()
		case m.kind == 6 && m.thread != "":
			_, err := p.r.ReleaseThread(m.thread)
			assert.NoError(p.t, err)
		case m.kind == 7:
			p.batch(m)
		case m.kind > 7:
			p.activate(m)
		}
		checkView(p.t, p.r.View())
	}
}

func (p *player) keep(h *contrib.Handle, err error) {
	if err != nil {
		assert.ErrorIs(p.t, err, contrib.ErrReplaceCycle)
		return
	}
	p.handles = append(p.handles, h)
}

func (p *player) batch(m move) {
	var added []*contrib.Handle
	err := p.r.Batch(func(b *contrib.Batch) error {
		for range 3 {
			h, err := m.add(b.With(p.r.Builtin()))
			if err != nil {
				return err
			}
			added = append(added, h)
		}
		if len(p.handles) > 0 {
			b.Revoke(p.handles[m.pick%len(p.handles)])
		}
		checkView(p.t, b.View())
		if m.fail {
			return errNo
		}
		return nil
	})
	if err == nil {
		p.handles = append(p.handles, added...)
		return
	}
	for _, h := range added {
		assert.False(p.t, h.Live())
	}
}

// activate lets a generation live for a moment.
func (p *player) activate(m move) {
	p.started++
	origin, err := contrib.Plugin(p.plugin, fmt.Sprint("g", p.started))
	assert.NoError(p.t, err)
	s := p.r.Stage(origin, nil)
	_, _ = m.add(s.Registrar())
	assert.NoError(p.t, s.Commit())
	m.thread = t1
	_, _ = m.add(s.Registrar())
	if m.fail {
		s.Revoke(contrib.StopFault)
	} else {
		s.Revoke(contrib.StopOperator)
	}
	assert.Empty(p.t, s.Release(nil))
}

// checkView resolves each point of one view again, from the entries that it lists.
func checkView(t assert.TestingT, v *contrib.View) {
	for _, p := range modelPoints {
		for _, thread := range modelThreads {
			n := &naive{}
			for _, info := range p.Infos(v, thread) {
				if info.Held {
					n.holds = append(n.holds, naiveHold{p, info.Replaces, info.Origin.ID(), info.Thread, info.Order, info.ID})
					continue
				}
				n.entries = append(n.entries, &naiveEntry{
					id: info.ID, point: p, order: info.Order, named: info.Name, replaces: info.Replaces, thread: info.Thread,
				})
			}
			want := n.resolve(p, thread)
			entries := p.Entries(v, thread)
			if assert.Len(t, entries, len(want)) {
				for i, e := range entries {
					assert.Equal(t, want[i].id, e.ID, "%s of %q", p.Name(), thread)
				}
			}
		}
	}
}

// Several goroutines play at once; readers check every view that they meet.
func TestRegistryUnderSeveralWriters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scripts := make([]script, 4)
		for i := range scripts {
			scripts[i] = drawScript(t)
		}
		r, err := contrib.New(pointP, pointHeld)
		require.NoError(t, err)
		var versions []uint64
		r.Subscribe("versions", func(e contrib.Event) { versions = append(versions, e.Version) })
		var writers, readers sync.WaitGroup
		stop := make(chan struct{})
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					checkView(t, r.View())
				}
			}
		})
		players := make([]*player, len(scripts))
		for i, s := range scripts {
			players[i] = &player{t: t, r: r, plugin: fmt.Sprint("plugin", i)}
			writers.Go(func() { players[i].play(s) })
		}
		writers.Wait()
		close(stop)
		readers.Wait()
		// An event of the last changes may still be with the goroutine that told; all have returned by now.
		require.Len(t, versions, int(r.View().Version()))
		for i, version := range versions {
			require.Equal(t, uint64(i+1), version)
		}
		live := 0
		for _, p := range players {
			for _, h := range p.handles {
				if h.Live() {
					live++
				}
			}
		}
		listed := map[uint64]bool{}
		for _, p := range modelPoints {
			for _, thread := range modelThreads {
				for _, info := range p.Infos(r.View(), thread) {
					if !info.Held {
						listed[info.ID] = true
					}
				}
			}
		}
		require.Len(t, listed, live)
	})
}
