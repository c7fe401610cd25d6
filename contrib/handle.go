package contrib

import "sync/atomic"

// Life of a handle.
const (
	pending uint32 = iota // accepted into a batch or a staged activation
	live                  // published
	dead                  // revoked, or never published
)

// Handle is what an add returns. All methods may be called from any goroutine, and on a nil handle.
type Handle struct {
	registry *Registry
	entry    *entry
	life     atomic.Uint32 // changes under the registry's lock
	id       atomic.Uint64
	// owner is nil once the handle is dead, so that a view that is still read does not keep a generation reachable.
	// Under the registry's lock.
	owner *owner
}

// Revoke removes the entry, publishes, notifies, and then closes the value if it is owned. It is idempotent and never
// panics. It does not wait for calls that run in the value. A handle that is revoked before its publication cancels its
// entry.
func (h *Handle) Revoke() {
	if h == nil || h.life.Load() == dead {
		return
	}
	_, _ = h.registry.change(op{kind: opRevoke, handle: h})
}

// Live reports whether the entry is published and not revoked.
func (h *Handle) Live() bool { return h != nil && h.life.Load() == live }

// ID is the id of the entry. It is 0 before publication, and keeps its value after a revocation.
func (h *Handle) ID() uint64 {
	if h == nil {
		return 0
	}
	return h.id.Load()
}
