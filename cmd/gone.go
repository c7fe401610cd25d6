package crystalcmd

import (
	"io"
	"sync"
)

// goneWriter writes to a reader that may go away: the first error is kept, and told once.
type goneWriter struct {
	w    io.Writer
	gone func() // called at the first error

	mu  sync.Mutex
	err error
}

// Write writes p whole, however slow the reader is. After an error it writes nothing.
func (g *goneWriter) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.w.Write(p)
	if err != nil {
		g.err = err
		g.gone()
	}
	return n, err
}
