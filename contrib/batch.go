package contrib

import (
	"errors"
	"sync"
)

// errForeignRegistrar refuses to mix two registries in one batch.
var errForeignRegistrar = errors.New("contrib: the registrar belongs to another registry than the batch")

// Batch is a set of adds and revocations that is published as one change. Only what goes through it belongs to it. It
// ends when its function returns; used later, its adds answer [ErrBatchClosed] and its other methods do nothing.
type Batch struct {
	registry *Registry
	parent   *Batch

	mu     sync.Mutex // taken before the parent's, and that before the registry's
	closed bool
	ops    []op
	draft  *draft // the picture of ops and those of the parent; nil when it must be drawn again
	above  int    // how many of the parent it shows
}

// Batch publishes all that fn does through b as one change, after fn has returned nil. When fn returns an error or
// panics nothing is published, and the handles that it got are dead. Adds are checked again against the state at the
// publication; when one is refused then, its error is returned and nothing is published. A batch without effect
// publishes nothing.
func (r *Registry) Batch(fn func(b *Batch) error) error {
	b := &Batch{registry: r}
	return b.run(fn, func(ops []op) error {
		_, err := r.change(ops...)
		return err
	})
}

// Batch joins fn to this batch's publication. An error or panic of fn drops what fn did and goes to the caller.
func (b *Batch) Batch(fn func(b *Batch) error) error {
	if err := b.usable(nil); err != nil {
		return err
	}
	inner := &Batch{registry: b.registry, parent: b}
	return inner.run(fn, func(ops []op) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.closed {
			return ErrBatchClosed
		}
		b.ops = append(b.ops, ops...)
		b.draft = nil
		return nil
	})
}

// run calls fn and hands what it did to finish, unless fn fails in any way.
func (b *Batch) run(fn func(b *Batch) error, finish func([]op) error) (err error) {
	done := false
	defer func() {
		ops := b.end()
		if done && err == nil {
			err = finish(ops)
			done = err == nil
		} else {
			done = false
		}
		if !done {
			kill(b.registry, ops)
		}
	}()
	if fn != nil {
		err = fn(b)
	}
	done = true
	return err
}

// end closes the batch and returns what was done through it.
func (b *Batch) end() []op {
	b.mu.Lock()
	defer b.mu.Unlock()
	ops := b.ops
	b.closed, b.ops, b.draft = true, nil, nil
	return ops
}

// With wraps a registrar, so that adds through it belong to the batch.
func (b *Batch) With(r *Registrar) *Registrar {
	if r == nil {
		return nil
	}
	return &Registrar{owner: r.owner, batch: b}
}

// Revoke revokes a handle in the batch.
func (b *Batch) Revoke(h *Handle) {
	if h != nil && h.registry == b.registry {
		_, _ = b.do(op{kind: opRevoke, handle: h})
	}
}

// ReleaseThread releases a thread in the batch. The count is that of the batch's own picture.
func (b *Batch) ReleaseThread(id ThreadID) (int, error) {
	if err := releasable(id); err != nil {
		return 0, err
	}
	return b.do(op{kind: opRelease, thread: id})
}

// Close closes a registrar in the batch. Later adds through the batch are refused; adds of others are accepted until
// the publication, which revokes them.
func (b *Batch) Close(r *Registrar, _ StopCause) {
	if r != nil && r.owner.registry == b.registry {
		_, _ = b.do(op{kind: opClose, owner: r.owner})
	}
}

// View is the batch's own picture: the newest view with everything that was done through the batch. Ids of entries that
// are not published yet are provisional in it. Each call draws it anew. After the end it is the registry's view.
func (b *Batch) View() *View {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return b.registry.View()
	}
	return b.drawn(true, func(d *draft) *View { return d.seal(b.registry.last, true).view })
}

func (b *Batch) add(o op) error {
	_, err := b.do(o)
	return err
}

// do plays one change on the batch's picture and keeps it for the publication.
func (b *Batch) do(o op) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, ErrBatchClosed
	}
	var count int
	var err error
	b.drawn(o.kind == opRelease, func(d *draft) *View {
		count, err = d.play(o)
		return nil
	})
	if err == nil {
		b.ops = append(b.ops, o)
	}
	return count, err
}

// usable returns why the batch cannot take an add of o.
func (b *Batch) usable(o *owner) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return ErrBatchClosed
	case o != nil && o.registry != b.registry:
		return errForeignRegistrar
	}
	return nil
}

// closes reports whether o is closed in the batch's picture.
func (b *Batch) closes(o *owner) (closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ops) == 0 && b.parent == nil {
		return false
	}
	b.drawn(false, func(d *draft) *View {
		closed = d.closes(o)
		return nil
	})
	return closed
}

// drawn calls use with the picture, under the registry's lock. With newest it is drawn again when the registry or an
// outer batch has changed since. The caller holds b.mu.
func (b *Batch) drawn(newest bool, use func(*draft) *View) *View {
	var above []op
	if newest || b.draft == nil {
		above = b.parent.all()
	}
	b.registry.mu.Lock()
	defer b.registry.mu.Unlock()
	base := b.registry.View()
	if b.draft == nil || newest && (b.draft.base != base || b.above != len(above)) {
		b.draft, b.above = newDraft(b.registry, base), len(above)
		for _, o := range append(above, b.ops...) {
			// What no longer fits fails the publication; the picture goes without it.
			_, _ = b.draft.play(o)
		}
	}
	return use(b.draft)
}

// all returns what was done through b and the batches around it.
func (b *Batch) all() []op {
	if b == nil {
		return nil
	}
	above := b.parent.all()
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(above, b.ops...)
}
