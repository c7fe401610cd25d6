package generations

import (
	"sync"

	"github.com/crystalkernel/crystal/contrib"
)

// home is where a generation keeps what guards hold of it: the slots of references and the objects that guards made for
// the host. It is the containment that contrib calls the plugin's code through.
type home struct {
	core     *core
	mu       sync.Mutex
	released bool
	slots    []emptier
	prune    int                  // look for slots of revoked entries when there are so many
	made     map[*material]uint64 // with a serial number, for the order of closing
	serial   uint64
}

func newHome(c *core) *home { return &home{core: c, made: map[*material]uint64{}} }

// emptier is a slot that can be emptied.
type emptier interface {
	empty()
	gone() bool
}

// reference is what a guard is given to bind a value to.
type reference struct {
	entry
	home   *home
	handle *contrib.Handle
}

func (r *reference) Origin() contrib.Origin { return r.origin }
func (r *reference) Point() string          { return r.point }
func (r *reference) Label() string          { return r.label }

// Run implements contrib.Containment.
func (h *home) Run(f func() error) (err error) {
	c := h.core
	cell := c.gate.enter()
	if cell == nil {
		return contrib.ErrUnavailable
	}
	was := goroutineLabels()
	setGoroutineLabels(c.labels)
	defer c.gate.leave(cell)
	defer setGoroutineLabels(was)
	return c.inline("contribute", f)
}

// Ref implements contrib.Containment.
func (h *home) Ref(i contrib.RefInfo) contrib.Ref {
	return &reference{
		entry:  entry{gate: h.core.gate, origin: h.core.origin, point: i.Point, label: i.Label, deadline: i.Deadline, log: h.core.log},
		home:   h,
		handle: i.Handle,
	}
}

// keep fills a slot and remembers to empty it. Nothing is filled once the generation has let go.
func (h *home) keep(r *reference, fill func(binding), s emptier) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return
	}
	fill(binding{handle: r.handle, gate: r.gate, core: h.core, home: h})
	if len(h.slots) >= max(h.prune, 16) {
		kept := h.slots[:0]
		for _, s := range h.slots {
			if s.gone() {
				s.empty()
				continue
			}
			kept = append(kept, s)
		}
		clear(h.slots[len(kept):])
		h.slots, h.prune = kept, 2*len(kept)
	}
	h.slots = append(h.slots, s)
}

// release lets go of all slots.
func (h *home) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.released = true
	for _, s := range h.slots {
		s.empty()
	}
	h.slots = nil
}
