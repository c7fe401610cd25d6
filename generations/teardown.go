package generations

import (
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/crystalkernel/crystal/contrib"
)

// Steps of a teardown that have cleanup errors, in their order.
const (
	CleanWork    = "work"    // background work returned an error after it was told to stop
	CleanRelease = "release" // an object made for the host, or an owned contribution
	CleanDrop    = "exports" // Config.OnDrop panicked
	CleanStop    = "stop"    // the stop hooks of the app
	CleanClose   = "close"   // a resource of the lifetime
)

// Teardown is a teardown that goes on or is complete. All methods may be called from any goroutine.
type Teardown struct {
	plugin, generation string
	root               weak.Pointer[root]
	done               chan struct{}

	mu      sync.Mutex
	errs    []*CleanupError
	stopped time.Time
}

// Done is closed when the teardown is complete. It has no time limit.
func (t *Teardown) Done() <-chan struct{} { return t.done }

// Errors lists the cleanup errors so far. They change no outcome.
func (t *Teardown) Errors() []*CleanupError {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.errs)
}

// Remains says what to watch for once the teardown is complete.
func (t *Teardown) Remains() Remains {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Remains{Plugin: t.plugin, Generation: t.generation, Stopped: t.stopped, root: t.root}
}

func (t *Teardown) failed(step string, resources ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range resources {
		t.errs = append(t.errs, &CleanupError{Plugin: t.plugin, Generation: t.generation, Step: step, Resource: r})
	}
}

// parts is what a generation is made of, and what a teardown takes apart. The host keeps nothing else of it.
type parts struct {
	core     *core
	home     *home
	lifetime *Lifetime
	staging  *contrib.Staging
	app      App // nil without hooks, or when there is nothing to stop
	gates    *Table
	onDrop   func()
}

func (p *parts) teardown() *Teardown {
	return &Teardown{plugin: p.core.plugin, generation: p.core.id, root: weak.Make(p.core.root), done: make(chan struct{})}
}

// begin is what comes before anything is waited for.
func (p *parts) begin(cause contrib.StopCause) {
	p.staging.Revoke(cause)
	p.core.gate.Close()
	p.gates.drop(p.core)
	p.lifetime.signal()
}

// finish waits for those inside, takes everything down, and lets go of it.
func (p *parts) finish(t *Teardown) {
	<-p.core.gate.Drained()
	<-p.lifetime.idle
	t.failed(CleanWork, p.lifetime.failures()...)

	t.failed(CleanRelease, p.home.closeMade()...)
	var errs []error
	_ = p.core.contain("release", func() error { errs = p.staging.Release(p.lifetime.owns); return nil })
	for _, err := range errs {
		p.core.log.Error("closing a contribution failed", p.core.attrs(CleanRelease, errorAttr(err))...)
		t.failed(CleanRelease, "contribution")
	}
	p.home.release()

	if p.onDrop != nil {
		if err := protect(func() error { p.onDrop(); return nil }); err != nil {
			p.core.log.Error("dropping exports failed", p.core.attrs(CleanDrop, errorAttr(err))...)
			t.failed(CleanDrop, "exports")
		}
	}
	if p.app != nil && p.core.contain(CleanStop, func() error { return p.app.Stop(p.core.base) }) != nil {
		t.failed(CleanStop, "app")
	}
	t.failed(CleanClose, p.lifetime.close()...)

	t.mu.Lock()
	t.stopped = time.Now()
	t.mu.Unlock()
	*p = parts{} // the root goes with it
	close(t.done)
}
