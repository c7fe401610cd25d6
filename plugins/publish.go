package plugins

import (
	"maps"
	"reflect"
	"slices"

	"github.com/crystalkernel/crystal/deps"
)

// Snapshot returns the newest snapshot. It takes no lock.
func (r *Runtime) Snapshot() *Snapshot { return r.snapshot.Load() }

// publish makes a new snapshot when its content differs from the last one. It runs under the mutation lock.
func (r *Runtime) publish() {
	statuses := make(map[string]Status, len(r.nodes))
	held := map[string][]HeldTarget{}
	for _, h := range r.registry.Holds() {
		held[h.PluginID] = append(held[h.PluginID], HeldTarget{Point: h.Point, Target: h.Target, Thread: h.Thread})
	}
	for id, n := range r.nodes {
		statuses[id] = r.status(n, held[id])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var changed []string
	for id, s := range statuses {
		if old, known := r.statuses[id]; !known || !reflect.DeepEqual(old, s) {
			changed = append(changed, id)
		}
	}
	for id := range r.statuses {
		if _, known := statuses[id]; !known {
			changed = append(changed, id)
		}
	}
	if len(changed) == 0 {
		return
	}
	slices.Sort(changed)
	r.statuses = statuses
	next := &Snapshot{Revision: r.snapshot.Load().Revision + 1, Plugins: make([]Status, 0, len(statuses))}
	for _, id := range slices.Sorted(maps.Keys(statuses)) {
		next.Plugins = append(next.Plugins, statuses[id])
	}
	r.snapshot.Store(next)
	r.news.post(Event{next.Revision, changed})
}

func (r *Runtime) status(n *node, held []HeldTarget) Status {
	s := Status{
		ID: n.id(), Version: n.plugin.Version, Name: n.plugin.DisplayName(), Source: n.source, Directory: n.directory,
		Enabled: n.enabled, State: r.shown(n), Generation: n.generation, Blockers: slices.Clone(n.blockers), Tools: n.tools,
		LeakedGenerations: n.leaked, RestartRecommended: n.recommended, Leaks: n.leaks, Held: held,
	}
	r.mu.Lock()
	s.Diagnostics = slices.Clone(n.diagnosed)
	r.mu.Unlock()
	for _, d := range r.graph.Dependencies(n.id(), func(id string) deps.Reason { return deps.Reason(r.shown(r.nodes[id])) }) {
		s.Dependencies = append(s.Dependencies, Dependency{d.Provider, d.Required, d.Observed, string(d.Status)})
	}
	return s
}

// look takes over what the leak watch knows of a plugin. Looking only when it has news keeps snapshots cheap while many
// generations wait to be collected.
func (r *Runtime) look(n *node) {
	report := r.watch.Report(n.id())
	n.leaked, n.recommended, n.leaks = report.LeakedGenerations, report.RestartRecommended, nil
	for _, l := range report.Leaks {
		leak := Leak{Generation: l.Generation, StoppedAt: l.Stopped, RootGone: l.RootGone}
		for _, g := range l.Goroutines {
			leak.Goroutines = append(leak.Goroutines, Goroutine{g.Count, g.Stack})
		}
		n.leaks = append(n.leaks, leak)
	}
}

// lookAtAll is look for every plugin.
func (r *Runtime) lookAtAll() {
	for _, n := range r.nodes {
		r.look(n)
	}
}
