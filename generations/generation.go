package generations

import (
	"sync"

	"github.com/crystalkernel/crystal/contrib"
)

// Generation is one activation of one plugin that was committed. All methods may be called from any goroutine. After its
// teardown it keeps nothing of the plugin alive.
type Generation struct {
	plugin, id string
	gate       *Gate
	refused    []contrib.Diagnostic

	once     sync.Once
	parts    *parts
	teardown *Teardown
}

// Plugin returns the plugin id.
func (g *Generation) Plugin() string { return g.plugin }

// ID returns the generation id.
func (g *Generation) ID() string { return g.id }

// Gate returns the generation's gate.
func (g *Generation) Gate() *Gate { return g.gate }

// Refused lists the contributions that were refused during the activation.
func (g *Generation) Refused() []contrib.Diagnostic { return g.refused }

// Stop tears the generation down, in the reverse of the order in which it was built. When it returns, nothing of it is in a view, its gate
// is closed, and its code was told to stop; the rest goes on and is waited for with [Teardown.Done]. cause decides whether
// guarding targets are held. A second call returns the teardown of the first. It may be called from inside a call into
// the generation.
func (g *Generation) Stop(cause contrib.StopCause) *Teardown {
	g.once.Do(func() {
		g.teardown = g.parts.teardown()
		g.parts.begin(cause)
		go func(p *parts, t *Teardown) {
			setGoroutineLabels(nil) // the caller may be plugin code
			p.finish(t)
		}(g.parts, g.teardown)
		g.parts = nil
	})
	return g.teardown
}
