package generations

import (
	"math"
	"sync"
	"sync/atomic"
)

// closed is the state of a closed gate with nobody inside: the sign bit is the closed bit, the rest is the count.
const closed = math.MinInt64

// Gate admits calls into a generation, refuses them once it is closed, and tells when the last one has left. Make one
// with [NewGate]. All methods may be called from any goroutine; none of them blocks.
type Gate struct {
	word    atomic.Int64
	once    sync.Once
	drained chan struct{}
}

// NewGate returns an open gate.
func NewGate() *Gate { return &Gate{drained: make(chan struct{})} }

// Enter gives a lease while the gate is open. Calls may nest; each has a lease of its own.
func (g *Gate) Enter() (*Lease, bool) {
	if g.enter() == 0 {
		return nil, false
	}
	return &Lease{gate: g}, true
}

// Close closes the gate. Those inside go on. It is idempotent.
func (g *Gate) Close() {
	if g.word.Or(closed)|closed == closed {
		g.drain()
	}
}

// Closed reports whether the gate is closed.
func (g *Gate) Closed() bool { return g.word.Load() < 0 }

// Drained is closed when the gate is closed and nobody is inside.
func (g *Gate) Drained() <-chan struct{} { return g.drained }

// Inside returns the number of leases that are out. It may count a caller that is being refused at this moment.
func (g *Gate) Inside() int { return int(g.word.Load() &^ closed) }

// enter is Enter without a lease object: whoever gets a number above zero owes a leave. The number counts the calls
// that are inside, this one included. 1 thus means to be alone.
func (g *Gate) enter() int64 {
	n := g.word.Add(1)
	if n > 0 {
		return n
	}
	g.leave()
	return 0
}

// leave gives back what enter gave.
func (g *Gate) leave() {
	if g.word.Add(-1) == closed {
		g.drain()
	}
}

// drain tells that the gate is drained. A refused caller passes through the count, so the moment may come twice.
func (g *Gate) drain() { g.once.Do(func() { close(g.drained) }) }
