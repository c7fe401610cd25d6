package generations

import (
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// closed is the state of a closed cell with nobody inside: the sign bit is the closed bit, the rest is the count.
const closed = math.MinInt64

// maxCells bounds the memory of a gate on machines with many processors.
const maxCells = 64

// Gate admits calls into a generation, refuses them once it is closed, and tells when the last one has left. Make one
// with [NewGate]. All methods may be called from any goroutine; none of them blocks.
//
// Callers count themselves in one of several cells, by where their stack lies, so that those of several processors seldom
// fight for one word. A cell is a small gate of its own; the gate has drained once each of its cells has.
type Gate struct {
	cells   []cell // a power of two of them
	open    atomic.Int32
	drained chan struct{}
}

// cell is a part of a gate, alone in its cache line.
type cell struct {
	word atomic.Int64
	over atomic.Bool  // it is counted as drained
	last *callContext // of the last call that was alone in the cell; see freshContext
	_    [64 - 8 - 8 - 8]byte
}

// NewGate returns an open gate.
func NewGate() *Gate {
	n := min(8<<bits.Len(uint(runtime.GOMAXPROCS(0)-1)), maxCells)
	g := &Gate{cells: make([]cell, n), drained: make(chan struct{})}
	g.open.Store(int32(n))
	return g
}

// Enter gives a lease while the gate is open. Calls may nest; each has a lease of its own.
func (g *Gate) Enter() (*Lease, bool) {
	c := g.enter()
	if c == nil {
		return nil, false
	}
	return &Lease{gate: g, cell: c}, true
}

// Close closes the gate. Those inside go on. It is idempotent.
func (g *Gate) Close() {
	for i := range g.cells {
		if c := &g.cells[i]; c.word.Or(closed)|closed == closed {
			g.drain(c)
		}
	}
}

// Closed reports whether the gate is closed, or about to be.
func (g *Gate) Closed() bool { return g.cells[0].word.Load() < 0 }

// Drained is closed when the gate is closed and nobody is inside.
func (g *Gate) Drained() <-chan struct{} { return g.drained }

// Inside returns the number of leases that are out. It may count a caller that is being refused at this moment.
func (g *Gate) Inside() int {
	n := 0
	for i := range g.cells {
		n += int(g.cells[i].word.Load() &^ closed)
	}
	return n
}

// near returns the cell for a caller whose stack holds the given address. It is a hint: any cell would do.
func (g *Gate) near(stack unsafe.Pointer) *cell {
	at := uintptr(stack)
	return &g.cells[(at>>11^at>>15)&uintptr(len(g.cells)-1)]
}

// enter is Enter without a lease object: whoever gets a cell owes it a leave.
func (g *Gate) enter() *cell {
	var here byte
	c := g.near(unsafe.Pointer(&here))
	if c.word.Add(1) > 0 {
		return c
	}
	g.leave(c)
	return nil
}

// leave gives back what enter gave.
func (g *Gate) leave(c *cell) {
	if c.word.Add(-1) == closed {
		g.drain(c)
	}
}

// drain tells that a cell is closed and empty. A refused caller passes through the count, so the moment may come twice.
func (g *Gate) drain(c *cell) {
	if !c.over.CompareAndSwap(false, true) {
		return
	}
	c.last = nil // it leads to the generation, and the gate may be kept for longer
	if g.open.Add(-1) == 0 {
		close(g.drained)
	}
}
