package plugins

import "github.com/crystalkernel/crystal/deps"

// replan goes through all plugins in load order and brings each to where it belongs. named lists the plugins that the
// cause of the replan names: those and their dependants are tried again when they had faulted. It runs under the
// mutation lock.
func (r *Runtime) replan(named []string) {
	r.carryOn()
	again := map[string]bool{}
	for _, id := range r.graph.Closure(named...) {
		again[id] = true
	}
	for _, id := range r.graph.Order() {
		n := r.nodes[id]
		switch {
		case n.live != nil:
			// Active, or not torn down yet.
		case r.closing.Load() || !n.enabled || n.quiesced:
			r.settle(n, Stopped, nil)
		case n.state == Faulted && !again[id]:
		default:
			if blockers := r.preflight(n); len(blockers) > 0 {
				r.settle(n, Blocked, blockers)
				continue
			}
			r.activate(n)
		}
	}
	r.publish()
}

// settle gives a node without a generation its state.
func (r *Runtime) settle(n *node, s State, blockers []Blocker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n.state, n.generation, n.blockers, n.tools = s, "", blockers, nil
}

// reason is the state of a provider as its consumers see it.
func (r *Runtime) reason(id string) deps.Reason {
	n := r.nodes[id]
	if n.stop != nil {
		// It still serves, but it is about to stop: nobody starts on top of it.
		return deps.Deactivating
	}
	return deps.Reason(r.shown(n))
}

// shown is the state of a node, reclaim included: a generation that is torn down while something keeps it shows in the
// states that say that nothing runs.
func (r *Runtime) shown(n *node) State {
	if n.stopped && (n.state == Stopped || n.state == Blocked) && n.leaked > 0 {
		return Reclaiming
	}
	return n.state
}
