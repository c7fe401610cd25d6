package plugins

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
)

// Scope says how long a switch lasts.
type Scope string

// The scopes of a switch.
const (
	ScopePersistent Scope = "persistent" // written before it takes effect
	ScopeProcess    Scope = "process"    // of this process alone
)

// SetEnabled switches a plugin on or off. Off stops its dependants, then the plugin, and releases what it held. On for
// an enabled plugin that faulted is a retry. With [ScopePersistent] the switch is written first; when that fails nothing
// else happens. The error matches [ErrUnknownPlugin], or is that of ctx when the caller gave up before it was the
// operation's turn; once the operation has begun, it goes on to its end.
func (r *Runtime) SetEnabled(ctx context.Context, id string, on bool, scope Scope) (Result, error) {
	if scope == ScopePersistent {
		if refused, err := r.persist(ctx, id, on); refused != nil || err != nil {
			return r.refusal(id, refused), err
		}
	}
	done, err := r.begin(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("plugins: switch %q: %w", id, err)
	}
	defer done()
	n, err := r.node(id)
	if err != nil {
		return Result{}, err
	}
	if r.closing.Load() {
		return r.incomplete(n), nil
	}
	r.mu.Lock()
	same := n.enabled == on
	n.enabled = on
	if scope == ScopePersistent {
		n.saved = on
		delete(r.switches, id)
	} else {
		r.switches[id] = on
	}
	r.mu.Unlock()
	switch {
	case same && on && n.state == Faulted:
		n.retry = n.live != nil // when the old code has settled; otherwise the replan tries again now
	case same:
		return r.result(NoChange, id), nil
	case on:
		n.retry = n.live != nil
	default:
		n.retry = false
	}
	r.rebuild()
	if !on {
		r.stopClosure([]string{id}, stopReason{cause: contrib.StopOperator})
		r.registry.ReleaseHolds(id)
	}
	r.replan([]string{id})
	return r.result(Applied, id), nil
}

// persist writes a switch. It runs before the mutation lock is waited for.
func (r *Runtime) persist(ctx context.Context, id string, on bool) (refused *Diagnostic, err error) {
	r.mu.Lock()
	n, err := r.node(id)
	if err != nil {
		r.mu.Unlock()
		return nil, err
	}
	s, saved := Switch{ID: id, On: on, Directory: n.directory, Source: n.source}, n.saved
	r.mu.Unlock()
	if saved == on {
		return nil, nil
	}
	if r.options.Persist != nil {
		if err = r.options.Persist(ctx, s); err == nil {
			return nil, nil
		}
		r.options.Logger.Error("write the switch of a plugin", "plugin", id, "on", on, "error", err)
	}
	return &Diagnostic{
		Code: PluginEnablementNotPersisted, Severity: contrib.Error, Phase: PhaseOperation, Plugin: id,
		Params: map[string]any{"source": string(s.Source)},
	}, nil
}
