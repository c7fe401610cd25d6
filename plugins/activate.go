package plugins

import (
	"context"
	"errors"
	"maps"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/generations"
)

// activate makes a generation of a plugin that has no blocker.
func (r *Runtime) activate(n *node) {
	id := r.serial.next()
	r.mu.Lock()
	n.state, n.generation, n.blockers, n.tools, n.retry = Activating, id, nil, nil, false
	r.mu.Unlock()
	r.publish()

	settings, _, notes := r.resolveSettings(n)
	for _, d := range notes {
		d.Generation = id
		r.diagnose(n, d)
	}
	g := given{
		facts:    Facts{ID: n.id(), Version: n.plugin.Version, Generation: id, HostVersion: r.options.HostVersion},
		settings: settings,
		dirs:     DataDirs{dirs: r.directories(n, id)},
		exports:  export.NewExports(),
		imports:  export.NewImports(r.providersOf(n)),
	}
	facts, exports, imports := g.facts, g.exports, g.imports
	generation, err := generations.Activate(context.Background(), generations.Config{
		Plugin: n.id(), ID: id, Registry: r.registry, Gates: &r.gates, Logger: r.options.Logger, Timeout: r.limits.Activation,
		Build: r.build(n, g),
		OnSeal: func() error {
			exports.Seal()
			imports.Seal()
			return nil
		},
		OnCommit: func(committed *generations.Generation) { r.committed(n, committed, facts, exports) },
		OnDrop: func() {
			exports.Drop()
			imports.Seal()
		},
		OnFault: func(work string) { r.post(fault{plugin: facts.ID, generation: facts.Generation, work: work}) },
	})
	if err != nil {
		r.failed(n, id, err)
		return
	}
	for _, refused := range generation.Refused() {
		r.diagnose(n, Diagnostic{
			Code: Code(refused.Code), Severity: refused.Severity, Phase: PhaseActivation, Generation: id,
			Text: refused.Message, Params: maps.Clone(refused.Params), Time: refused.Time,
		})
	}
	r.publish()
}

// providersOf returns what the direct providers of a plugin export.
func (r *Runtime) providersOf(n *node) map[string]*export.Exports {
	out := make(map[string]*export.Exports, len(n.plugin.Requires))
	for id := range n.plugin.Requires {
		if p := r.nodes[id]; p != nil && p.serving() {
			out[id] = p.live.exports
		}
	}
	return out
}

// committed shows a generation as active. Its background work starts after this.
func (r *Runtime) committed(n *node, g *generations.Generation, facts Facts, exports *export.Exports) {
	var tools []string
	if r.options.Describe != nil {
		if err := contained(func() error { tools = r.options.Describe(context.Background(), facts); return nil }); err != nil {
			r.options.Logger.Error("describe the tools of a plugin", "plugin", facts.ID, "error", err)
		}
	}
	r.mu.Lock()
	n.state, n.tools = Active, tools
	n.live = &live{id: facts.Generation, generation: g, exports: exports}
	r.mu.Unlock()
	r.publish()
}

// failed shows how an activation failed, and keeps track of its rollback.
func (r *Runtime) failed(n *node, id string, err error) {
	r.options.Logger.Error("activate a plugin", "plugin", n.id(), "generation", id, "error", errors.Join(unwrapped(err)...))
	state, b := Faulted, blocker(PluginActivationFailed, PhaseActivation, map[string]any{"phase": "activation", "generationId": id})
	switch service, refused := serviceBlocker(err); {
	case errors.Is(err, generations.ErrTimeout):
		b = blocker(PluginActivationTimeout, PhaseActivation, map[string]any{"phase": "activation", "generationId": id})
	case refused:
		state, b = Blocked, service
	case errors.Is(err, contrib.ErrRegistrationPending):
		b.Params["reason"] = "registrationPending"
	}
	r.diagnose(n, Diagnostic{
		Code: b.Code, Severity: contrib.Error, Phase: b.Phase, Generation: id, Text: b.Text, Params: maps.Clone(b.Params),
	})
	r.mu.Lock()
	n.state, n.blockers = state, []Blocker{b}
	r.mu.Unlock()
	var failure *generations.ActivationError
	if !errors.As(err, &failure) || failure.Rollback == nil {
		r.mu.Lock()
		n.generation = ""
		r.mu.Unlock()
		r.publish()
		return
	}
	rollback := failure.Rollback
	r.mu.Lock()
	n.live = &live{id: id, teardown: rollback}
	r.mu.Unlock()
	select {
	case <-rollback.Done():
		r.tornDown(n)
	default:
		r.late(n)
	}
	r.publish()
}

// unwrapped returns what an activation error wraps: its own text is fixed, theirs is for the log.
func unwrapped(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}
