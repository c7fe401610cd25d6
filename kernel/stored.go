package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
)

// ErrNoDelete is returned by Delete for a store that keeps what it has.
var ErrNoDelete = errors.New("kernel: the store deletes no threads")

// deleter is a store that can delete threads.
type deleter interface {
	Delete(ctx context.Context, id string) error
}

// Fork makes a new thread of a stored one, up to a place of its log: a record number, an item id, or blank for the end of
// the last turn. The parent may be open. Observers of threads are told that a thread starts, and sources of tools that
// want to know, that it was forked. Nothing that is scoped to the parent is inherited. The child is opened with Open.
func (k *Kernel) Fork(ctx context.Context, id, at string) (child string, err error) {
	if child, err = k.store.Fork(ctx, id, at); err != nil {
		return "", fmt.Errorf("kernel: fork: %w", err)
	}
	info, err := k.stored(ctx, child)
	if err != nil {
		return child, err
	}
	err = k.observe(ctx, child, func(ctx context.Context, o thread.Observer) error { return o.Started(ctx, info) })
	toolset.ForkThread(ctx, tool.Sources.Entries(k.registry.View(), contrib.ThreadID(child)), id, child)
	return child, err
}

// Delete deletes a stored thread. When it is open in this kernel it is closed first, which waits for its turn. Observers of
// threads are told before anything is gone, those that are scoped to the thread too; then its contributions are released,
// sources of tools are told, and its log is deleted.
func (k *Kernel) Delete(ctx context.Context, id string) error {
	store, ok := k.store.(deleter)
	if !ok {
		return ErrNoDelete
	}
	info, err := k.stored(ctx, id)
	if err != nil {
		return err
	}
	k.mu.Lock()
	open := k.threads[id]
	k.mu.Unlock()
	if open != nil {
		if err := open.Close(ctx); err != nil {
			return err
		}
	}
	// From here on the thread goes, whatever becomes of ctx.
	ctx = context.WithoutCancel(ctx)
	_ = k.observe(ctx, id, func(ctx context.Context, o thread.Observer) error { return o.Deleting(ctx, info) })
	toolset.ReleaseThread(ctx, tool.Sources.Entries(k.registry.View(), contrib.ThreadID(id)), id)
	_, released := k.registry.ReleaseThread(contrib.ThreadID(id))
	if err := store.Delete(ctx, id); err != nil {
		return errors.Join(fmt.Errorf("kernel: delete: %w", err), released)
	}
	return released
}

// stored describes a thread of the store.
func (k *Kernel) stored(ctx context.Context, id string) (thread.Info, error) {
	p, _, err := k.store.Read(ctx, id)
	if err != nil {
		return thread.Info{}, fmt.Errorf("kernel: read thread %s: %w", id, err)
	}
	s := p.State()
	return thread.Info{ID: id, Workspace: s.Thread.Workspace, Mode: s.Mode, Parent: parent(&s)}, nil
}

// parent is the thread that a thread was forked from; blank for none.
func parent(s *threadlog.State) string {
	if o := s.Thread.Fork; o != nil {
		return o.Thread
	}
	return ""
}

// observe tells the observers of threads.
func (k *Kernel) observe(ctx context.Context, id string, call func(context.Context, thread.Observer) error) error {
	return contrib.FanOut(ctx, thread.Observers.Entries(k.registry.View(), contrib.ThreadID(id)), call, k.report)
}
