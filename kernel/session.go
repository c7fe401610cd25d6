package kernel

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/points/model"
)

// turnKey is the key of the thread in the context of a turn.
type turnKey struct{}

// TurnThread returns the id of the thread whose turn ctx belongs to; blank outside of turns. Every context that a turn hands
// out, to hooks, tools and clients, belongs to it.
func TurnThread(ctx context.Context) string {
	if t, ok := ctx.Value(turnKey{}).(*Thread); ok {
		return t.id
	}
	return ""
}

// SetGear chooses another thinking gear, from the next turn on.
func (t *Thread) SetGear(gear string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gear = gear
}

// SessionModel returns what reaches the model of an open thread now, and its thinking gear; a blank one is the model's
// default. The error is ErrThreadClosed for a thread that is not open, or that of Models.
func (k *Kernel) SessionModel(ctx context.Context, thread string) (r model.ClientRequest, gear string, err error) {
	k.mu.Lock()
	t := k.threads[thread]
	k.mu.Unlock()
	if t == nil {
		return r, "", ErrThreadClosed
	}
	t.mu.Lock()
	ref, gear := t.model, t.gear
	t.mu.Unlock()
	if r, err = k.models.Resolve(ctx, ref); err != nil {
		return r, "", fmt.Errorf("kernel: choose a model: %w", err)
	}
	return r, gear, nil
}

// TextClient makes a client that takes no images: beside those of turns, without middlewares, one attempt for each round.
// It fails with ErrNoProtocol when nobody knows the protocol.
func (k *Kernel) TextClient(ctx context.Context, r model.ClientRequest) (model.Client, error) {
	f, err := k.factory(&r)
	if err != nil {
		return nil, err
	}
	r.ImageInput = false
	return f.Create(ctx, r)
}

// ImageClient is TextClient for a client that takes images; nil when the model or its protocol has none.
func (k *Kernel) ImageClient(ctx context.Context, r model.ClientRequest) (model.Client, error) {
	if !r.ImageInput {
		return nil, nil
	}
	f, err := k.factory(&r)
	if err != nil {
		return nil, err
	}
	return f.CreateMultimodal(ctx, r)
}

// Conversation returns what was said in an open thread: the summary of what was folded, if any, and the items after it, in
// order. They are shared and must not be changed. A thread that is not open has neither.
func (k *Kernel) Conversation(thread string) (summaries []string, items []*model.Item) {
	k.mu.Lock()
	t := k.threads[thread]
	k.mu.Unlock()
	if t == nil {
		return nil, nil
	}
	items = t.log.Items()
	if s := t.log.Summary(); s != nil && len(items) > 0 && items[0] == s {
		return []string{s.Text}, items[1:]
	}
	return nil, items
}

// IsOpen reports whether this kernel has a thread open.
func (k *Kernel) IsOpen(thread string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.threads[thread] != nil
}
