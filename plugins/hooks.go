package plugins

import (
	"context"
	"errors"
	"sync"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/generations"
)

// hooks are the lifecycle, the shutdowner and the app of one generation. The hooks run on the goroutine that starts or
// stops the generation, one after another, until each has really returned: whoever calls contains panics and counts the
// time.
type hooks struct {
	fault func(work string)
	pin   any
	app   *fx.App // what the hooks belong to, kept for as long as the generation

	mu      sync.Mutex
	list    []fx.Hook
	started int
}

var (
	_ fx.Lifecycle    = (*hooks)(nil)
	_ fx.Shutdowner   = (*hooks)(nil)
	_ generations.App = (*hooks)(nil)
)

// Append implements fx.Lifecycle.
func (h *hooks) Append(hook fx.Hook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, hook)
}

// Shutdown implements fx.Shutdowner: a generation cannot end itself, so asking for it is a failure of its work.
func (h *hooks) Shutdown(...fx.ShutdownOption) error {
	h.fault("shutdowner")
	return nil
}

// Start runs the start hooks in the order in which they were appended. When one fails, those that had started are
// stopped, newest first. When one panics, that is left to the caller.
func (h *hooks) Start(ctx context.Context) error {
	for {
		hook, more := h.next()
		if !more {
			return nil
		}
		err := ctx.Err()
		if err == nil && hook.OnStart != nil {
			err = hook.OnStart(ctx)
		}
		if err != nil {
			return errors.Join(err, h.Stop(context.WithoutCancel(ctx)))
		}
		h.mu.Lock()
		h.started++
		h.mu.Unlock()
	}
}

// Stop runs the stop hooks of what has started, newest first. All of them run; their errors are joined.
func (h *hooks) Stop(ctx context.Context) error {
	var failures []error
	for {
		hook, more := h.last()
		if !more {
			return errors.Join(failures...)
		}
		if hook.OnStop != nil {
			failures = append(failures, contained(func() error { return hook.OnStop(ctx) }))
		}
	}
}

func (h *hooks) next() (fx.Hook, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.started == len(h.list) {
		return fx.Hook{}, false
	}
	return h.list[h.started], true
}

func (h *hooks) last() (fx.Hook, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.started == 0 {
		return fx.Hook{}, false
	}
	h.started--
	hook := h.list[h.started]
	h.list = h.list[:h.started]
	return hook, true
}
