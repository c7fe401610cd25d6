package plugins

import (
	"slices"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Outcome says what became of an operation.
type Outcome string

// The outcomes.
const (
	Applied    Outcome = "applied"    // the intent was carried out; the plugin may still be blocked or faulted afterwards
	NoChange   Outcome = "noChange"   // it was so already
	NotApplied Outcome = "notApplied" // refused or incomplete; the diagnostics say why
)

// Result is the answer of an operation of a [Runtime].
type Result struct {
	Outcome     Outcome      `json:"outcome"`
	Affected    []string     `json:"affected"` // the plugins named and their transitive dependants, sorted
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	Revision    uint64       `json:"revision"` // of the snapshot after the operation
}

// result makes the answer of the running operation.
func (r *Runtime) result(o Outcome, ids ...string) Result {
	affected := slices.Clone(ids)
	affected = append(affected, r.graph.Closure(ids...)...)
	slices.Sort(affected)
	return Result{
		Outcome: o, Affected: slices.Compact(affected), Diagnostics: slices.Clone(r.op.diagnostics), Revision: r.Snapshot().Revision,
	}
}

// refuse is result for an operation that was not applied, with why.
func (r *Runtime) refuse(why Diagnostic, ids ...string) Result {
	out := r.result(NotApplied, ids...)
	out.Diagnostics = append(out.Diagnostics, completed(why))
	return out
}

// refusal is the answer of an operation that was refused before it was its turn.
func (r *Runtime) refusal(id string, why *Diagnostic) Result {
	if why == nil {
		return Result{}
	}
	return Result{Outcome: NotApplied, Affected: []string{id}, Diagnostics: []Diagnostic{completed(*why)}, Revision: r.Snapshot().Revision}
}

// incomplete is the answer for a plugin that is live or settling, and of a runtime that shuts down.
func (r *Runtime) incomplete(n *node, ids ...string) Result {
	if len(ids) == 0 {
		ids = []string{n.id()}
	}
	return r.refuse(Diagnostic{
		Code: PluginOperationIncomplete, Severity: contrib.Warning, Phase: PhaseOperation, Plugin: n.id(),
		Params: map[string]any{"pluginId": n.id(), "state": string(r.shown(n))},
	}, ids...)
}

// completed fills in what every diagnostic has.
func completed(d Diagnostic) Diagnostic {
	if d.Time.IsZero() {
		d.Time = time.Now()
	}
	if d.Text == "" {
		d.Text = text(d.Code)
	}
	return d
}
