package plugins

import (
	"context"
	"slices"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
)

// attendant is what a runtime does of its own accord: it takes reports one after another, each under the mutation lock.
type attendant struct {
	tasks sync.WaitGroup // the attendant itself, the herald, and those who wait for late teardowns
	wake  chan struct{}

	mu    sync.Mutex
	queue []any
	ended bool
}

// The reports.
type (
	// fault says that background work of a generation failed.
	fault struct{ plugin, generation, work string }
	// settled says that a late teardown or rollback is complete.
	settled struct{ plugin, generation string }
	// reclaimed says that the leak watch has news.
	reclaimed struct{}
)

// post hands over a report. It never blocks.
func (r *Runtime) post(report any) {
	a := &r.attendant
	a.mu.Lock()
	if _, news := report.(reclaimed); !news || !slices.ContainsFunc(a.queue, func(q any) bool { _, same := q.(reclaimed); return same }) {
		a.queue = append(a.queue, report)
	}
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *attendant) take() (report any, ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return nil, a.ended
	}
	report = a.queue[0]
	a.queue = a.queue[1:]
	return report, false
}

func (a *attendant) end() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (r *Runtime) attend() {
	for range r.attendant.wake {
		for {
			report, ended := r.attendant.take()
			if ended {
				return
			}
			if report == nil {
				break
			}
			r.attendTo(report)
		}
	}
}

func (r *Runtime) attendTo(report any) {
	done, err := r.begin(context.Background())
	if err != nil {
		return
	}
	defer done()
	switch report := report.(type) {
	case fault:
		r.onFault(report)
	case settled:
		r.onSettled(report)
	case Diagnostic:
		if n := r.nodes[report.Plugin]; n != nil {
			r.diagnose(n, report)
			r.publish()
		}
	case reclaimed:
		// Reclaim decides between reclaiming and what lies under it, and consumers see the difference.
		r.lookAtAll()
		r.replan(nil)
	}
}

// onFault stops the closure of a plugin whose background work failed. A report from a generation that is not the
// current one is ignored.
func (r *Runtime) onFault(f fault) {
	n := r.nodes[f.plugin]
	if n == nil || !n.serving() || n.live.id != f.generation || r.closing.Load() {
		return
	}
	r.options.Logger.Error("background work of a plugin failed", "plugin", f.plugin, "generation", f.generation, "work", f.work)
	r.diagnose(n, Diagnostic{
		Code: PluginActivationFailed, Severity: contrib.Error, Phase: PhaseBackgroundWork, Generation: f.generation,
		Params: map[string]any{"phase": "backgroundWork", "generationId": f.generation},
	})
	r.stopClosure([]string{f.plugin}, stopReason{cause: contrib.StopFault, fault: true})
	r.replan(nil)
}

// onSettled goes on with what a late teardown had held up.
func (r *Runtime) onSettled(s settled) {
	n := r.nodes[s.plugin]
	if n == nil || n.live == nil || n.live.id != s.generation {
		return
	}
	r.tornDown(n)
	var named []string
	if n.retry {
		n.retry = false
		named = []string{s.plugin}
	}
	r.replan(named)
}
