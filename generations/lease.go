package generations

import "sync/atomic"

// Lease is one call that is inside a gate.
type Lease struct {
	gate *Gate
	cell *cell
	over atomic.Bool
}

// Release ends the call. It is idempotent and may be called on a nil lease.
func (l *Lease) Release() {
	if l != nil && l.over.CompareAndSwap(false, true) {
		l.gate.leave(l.cell)
	}
}
