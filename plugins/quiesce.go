package plugins

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
)

// Quiesce stops the plugins and their dependants, so that their files can be replaced or their settings changed. They
// stay down until [Runtime.Reconcile] names them; their switches are not touched. When the holders of directory-backed
// parts do not let go, or a teardown outlasts the cleanup timeout, the answer is [NotApplied] and the plugins come back
// up, at once or when the teardown has settled.
func (r *Runtime) Quiesce(ctx context.Context, ids ...string) (Result, error) {
	done, err := r.begin(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("plugins: quiesce: %w", err)
	}
	defer done()
	return r.quiesce(ctx, ids)
}

func (r *Runtime) quiesce(ctx context.Context, ids []string) (Result, error) {
	var first *node
	for _, id := range ids {
		n, err := r.node(id)
		if err != nil {
			return Result{}, err
		}
		if first == nil {
			first = n
		}
	}
	if first == nil {
		return r.result(NoChange), nil
	}
	if r.closing.Load() {
		return r.incomplete(first, ids...), nil
	}
	closure := r.graph.Closure(ids...)
	if refused := r.letGo(ctx, closure); refused != nil {
		return r.refuse(*refused, ids...), nil
	}
	for _, id := range closure {
		r.nodes[id].quiesced = true
	}
	complete := r.stopClosure(ids, stopReason{cause: contrib.StopRestart})
	if complete {
		r.replan(nil)
		return r.result(Applied, ids...), nil
	}
	stuck := first
	for _, id := range closure {
		n := r.nodes[id]
		n.quiesced = false
		if n.live != nil {
			stuck = n
		}
	}
	r.resume(ctx, closure)
	r.replan(nil)
	return r.incomplete(stuck, ids...), nil
}

// letGo asks the holders of directory-backed parts to let go.
func (r *Runtime) letGo(ctx context.Context, ids []string) *Diagnostic {
	if r.options.Release == nil {
		return nil
	}
	err := contained(func() error { return r.options.Release(ctx, ids) })
	if err == nil {
		return nil
	}
	r.options.Logger.Error("release directory-backed parts of plugins", "plugins", ids, "error", err)
	r.resume(ctx, ids)
	return &Diagnostic{
		Code: PluginContributionQuiesceFailed, Severity: contrib.Error, Phase: PhaseOperation,
		Params: map[string]any{"phase": "release", "failureType": fmt.Sprintf("%T", err)},
	}
}

func (r *Runtime) resume(ctx context.Context, ids []string) {
	if r.options.Resume == nil {
		return
	}
	if err := contained(func() error { r.options.Resume(ctx, ids); return nil }); err != nil {
		r.options.Logger.Error("resume directory-backed parts of plugins", "plugins", ids, "error", err)
	}
}
