package contrib

import "fmt"

// Registrar adds entries for one origin and owns their handles as a group. Its methods may be called from any
// goroutine. A nil Registrar refuses every add.
type Registrar struct {
	owner *owner
	batch *Batch // adds belong to it
}

// owner is the group of handles behind a registrar. A registrar that a batch wraps shares it.
type owner struct {
	registry *Registry
	origin   Origin
	parent   *owner
	staging  *Staging // nil outside of a staged activation

	// Under the registry's lock.
	closed   bool
	children map[*owner]struct{}
	handles  map[*Handle]struct{} // live ones
}

func newOwner(r *Registry, parent *owner, origin Origin) *owner {
	return &owner{
		registry: r, origin: origin, parent: parent,
		children: map[*owner]struct{}{}, handles: map[*Handle]struct{}{},
	}
}

// walk calls visit for o and everything below it.
func (o *owner) walk(visit func(*owner)) {
	visit(o)
	for child := range o.children {
		child.walk(visit)
	}
}

// close marks o as closed. The caller holds the registry's lock.
func (o *owner) close() {
	o.closed = true
	if o.parent != nil {
		delete(o.parent.children, o)
	}
	if o.staging != nil {
		o.staging.cancel(func(h *Handle) bool { return h.owner == o })
	}
}

// publishes reports whether entries of o may be published now. The caller holds the registry's lock.
func (o *owner) publishes() bool { return o.staging == nil || o.staging.phase == phaseLive }

// isClosed reports whether o is closed, or is about to be by the batch.
func (o *owner) isClosed(b *Batch) bool {
	if b != nil && b.closes(o) {
		return true
	}
	o.registry.mu.Lock()
	defer o.registry.mu.Unlock()
	return o.closed || o.registry.closed
}

// Origin returns the registrar's origin.
func (r *Registrar) Origin() Origin {
	if r == nil {
		return Origin{}
	}
	return r.owner.origin
}

// Module makes a child with a module origin. The child is closed with its parent. A blank name is an error, a closed
// registrar answers [ErrClosed].
//
// A child of a plugin's registrar keeps the plugin's origin: what a plugin adds stays the plugin's, guarded and staged,
// whichever module of it adds it. Closing the child revokes its own entries alone.
func (r *Registrar) Module(name string) (*Registrar, error) {
	origin, err := Module(name)
	if err != nil {
		return nil, err
	}
	if r == nil || r.owner.isClosed(r.batch) {
		return nil, fmt.Errorf("%w: no module %s below this registrar", ErrClosed, name)
	}
	o := r.owner
	if o.staging != nil {
		origin = o.origin
	}
	o.registry.mu.Lock()
	defer o.registry.mu.Unlock()
	if o.closed {
		return nil, fmt.Errorf("%w: no module %s below the registrar %s", ErrClosed, name, o.origin)
	}
	child := newOwner(o.registry, o, origin)
	child.staging = o.staging
	o.children[child] = struct{}{}
	return &Registrar{owner: child, batch: r.batch}, nil
}

// Close revokes everything that it and its children added, newest first over all points, in one publication, and then
// closes the owned values in the same order. Every later add is refused with [ErrClosed]. It is idempotent. The cause
// counts for the registrar of a plugin's generation, which its Staging closes; a plugin that closes its registrar
// itself gives its targets up, so nothing is held.
func (r *Registrar) Close(cause StopCause) {
	switch {
	case r == nil:
	case r.batch != nil:
		r.batch.Close(r, cause)
	default:
		_, _ = r.owner.registry.change(op{kind: opClose, owner: r.owner})
	}
}

// add is Point.Add without its type.
func (r *Registrar) add(d *definition, value any, opts *options) (*Handle, error) {
	if r == nil {
		return nil, refuse(d, ErrClosed, "the registrar is nil")
	}
	if r.batch != nil {
		if err := r.batch.usable(r.owner); err != nil {
			return nil, fmt.Errorf("%w: add to %s", err, d.name())
		}
	}
	if r.owner.staging != nil {
		return r.owner.staging.add(r, d, value, opts)
	}
	if r.owner.isClosed(r.batch) {
		return nil, refuse(d, ErrClosed, "")
	}
	h, err := r.owner.prepare(d, value, opts, nil)
	if err != nil {
		return nil, err
	}
	return r.submit(op{kind: opAdd, handle: h})
}

// submit gives an add to the batch, or publishes it.
func (r *Registrar) submit(add op) (*Handle, error) {
	var err error
	if r.batch != nil {
		err = r.batch.add(add)
	} else {
		_, err = r.owner.registry.change(add)
	}
	if err != nil {
		kill(r.owner.registry, []op{add})
		return nil, err
	}
	return add.handle, nil
}

// kill ends the handles of adds that come to nothing.
func kill(r *Registry, ops []op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range ops {
		if o.kind == opAdd {
			o.handle.die()
		}
	}
}
