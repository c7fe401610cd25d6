package plugins

import (
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// stopClosure stops plugins and their dependants, each one before its providers. It reports whether all of them have
// been torn down; what could not be stopped yet is remembered.
func (r *Runtime) stopClosure(ids []string, why stopReason) bool {
	direct := map[string]bool{}
	for _, id := range ids {
		direct[id] = true
	}
	complete := true
	for _, id := range r.graph.StopOrder(ids...) {
		n, reason := r.nodes[id], why
		if !direct[id] && why.cause != contrib.StopShutdown {
			reason = stopReason{cause: contrib.StopDependency}
		}
		if n.live == nil {
			continue
		}
		if !n.serving() || r.holders(id) {
			complete = false
			if n.serving() {
				n.stop = &reason
			}
			continue
		}
		if !r.stopOne(n, reason) {
			complete = false
		}
	}
	return complete
}

// holders reports whether a dependant of the plugin has not been torn down.
func (r *Runtime) holders(id string) bool {
	for _, d := range r.graph.Dependants(id) {
		if r.nodes[d].live != nil {
			return true
		}
	}
	return false
}

// carryOn stops what was to be stopped and had to wait for its dependants.
func (r *Runtime) carryOn() {
	for _, id := range r.graph.StopOrder(r.graph.Order()...) {
		if n := r.nodes[id]; n.stop != nil && n.serving() && !r.holders(id) {
			r.stopOne(n, *n.stop)
		}
	}
}

// stopOne stops one generation, waits for its teardown as long as operations wait, and reports whether it is complete.
func (r *Runtime) stopOne(n *node, why stopReason) bool {
	n.stop = nil
	r.mu.Lock()
	n.state, n.tools, n.blockers = Deactivating, nil, nil
	r.mu.Unlock()
	r.publish()
	teardown := n.live.generation.Stop(why.cause)
	r.mu.Lock()
	n.live.teardown = teardown
	r.mu.Unlock()
	if why.fault {
		n.stop = &why // what it ends as
	}
	if r.closing.Load() {
		<-teardown.Done()
		r.tornDown(n)
		r.publish()
		return true
	}
	timer := time.NewTimer(r.limits.Cleanup)
	defer timer.Stop()
	select {
	case <-teardown.Done():
		r.tornDown(n)
		r.publish()
		return true
	case <-timer.C:
	}
	r.diagnose(n, Diagnostic{
		Code: PluginDrainTimeout, Severity: contrib.Warning, Phase: PhaseDrain, Generation: n.live.id,
		Params: map[string]any{"phase": "drain", "generationId": n.live.id},
	})
	r.late(n)
	r.publish()
	return false
}

// late has somebody wait for a teardown that takes longer than operations wait.
func (r *Runtime) late(n *node) {
	n.live.late = true
	id, generation, teardown := n.id(), n.live.id, n.live.teardown
	r.attendant.tasks.Go(func() {
		<-teardown.Done()
		r.post(settled{plugin: id, generation: generation})
	})
}

// tornDown lets go of a generation whose teardown is complete and hands it to the leak watch.
func (r *Runtime) tornDown(n *node) {
	ended, teardown := n.live.id, n.live.teardown
	if failures := teardown.Errors(); len(failures) > 0 {
		r.diagnose(n, Diagnostic{
			Code: PluginCleanupFailed, Severity: contrib.Warning, Phase: PhaseCleanup, Generation: ended,
			Params: map[string]any{"phase": "cleanup", "generationId": ended, "count": len(failures)},
		})
	}
	faulted := n.stop != nil && n.stop.fault
	n.stop = nil
	r.mu.Lock()
	n.live, n.generation, n.stopped = nil, "", n.state == Deactivating
	switch {
	case faulted:
		n.state = Faulted
		n.blockers = []Blocker{blocker(PluginActivationFailed, PhaseBackgroundWork, map[string]any{"phase": "backgroundWork"})}
	case n.state == Deactivating:
		n.state = Stopped
	}
	r.mu.Unlock()
	r.watch.Add(teardown.Remains(), generations.CleanUp{})
	r.look(n)
}
