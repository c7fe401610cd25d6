package plugins

import (
	"context"
	"fmt"
	"reflect"
)

// Reconcile reads again what the host's files say about the plugins, and brings them and what was quiesced with them
// back up. It needs a [Runtime.Quiesce] before: a plugin that is live or settling makes it answer [NotApplied]. The
// outcome is [Applied] when anything about a plugin has changed, also when it has come or gone, and [NoChange]
// otherwise. The error matches [ErrUnknownPlugin] when neither the runtime nor the files know a plugin, or comes from
// reading the files; then nothing has changed.
func (r *Runtime) Reconcile(ctx context.Context, ids ...string) (Result, error) {
	done, err := r.begin(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("plugins: reconcile: %w", err)
	}
	defer done()
	return r.reconcile(ctx, ids)
}

func (r *Runtime) reconcile(ctx context.Context, ids []string) (Result, error) {
	for _, id := range ids {
		if n := r.nodes[id]; n != nil && (n.live != nil || r.closing.Load()) {
			return r.incomplete(n, ids...), nil
		}
	}
	inputs, err := r.read(ctx)
	if err != nil {
		return Result{}, err
	}
	placed := inputs.placements()
	for _, id := range ids {
		if _, named := placed[id]; !named && r.nodes[id] == nil {
			return Result{}, fmt.Errorf("%w: %q", ErrUnknownPlugin, id)
		}
	}
	closure := r.graph.Closure(ids...)
	changed := false
	for _, id := range ids {
		changed = changed || !sameLayers(r.inputs, inputs, id)
	}
	r.inputs = inputs
	for _, id := range ids {
		changed = r.place(id, placed) || changed
	}
	for _, id := range closure {
		if n := r.nodes[id]; n != nil {
			n.quiesced = false
		}
	}
	r.rebuild()
	r.resume(ctx, closure)
	r.replan(ids)
	if !changed {
		return r.result(NoChange, ids...), nil
	}
	return r.result(Applied, ids...), nil
}

// sameLayers reports whether two readings say the same about the settings of a plugin.
func sameLayers(a, b Inputs, id string) bool {
	return reflect.DeepEqual(a.Home.Plugins[id], b.Home.Plugins[id]) &&
		reflect.DeepEqual(a.Workspace.Plugins[id], b.Workspace.Plugins[id]) &&
		(a.Home.Err == nil) == (b.Home.Err == nil) && (a.Workspace.Err == nil) == (b.Workspace.Err == nil)
}
