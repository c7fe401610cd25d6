package plugins

import (
	"maps"
	"reflect"
	"slices"

	"github.com/crystalkernel/crystal/deps"
)

// placements returns the effective directory of each plugin: of two that name one id the project's, then the first by
// name.
func (in Inputs) placements() map[string]Placement {
	out := make(map[string]Placement, len(in.Placements))
	for _, p := range in.Placements {
		kept, taken := out[p.ID]
		project := p.Source == SourceProject
		if !taken || project && kept.Source != SourceProject || project == (kept.Source == SourceProject) && p.Directory < kept.Directory {
			out[p.ID] = p
		}
	}
	return out
}

// place brings the node of a plugin in line with what the host lists and the files say. It reports whether anything
// about it has changed. A plugin that neither knows is dropped; the operator's switch for this process is kept.
func (r *Runtime) place(id string, placed map[string]Placement) (changed bool) {
	at := slices.IndexFunc(r.compiled, func(p Plugin) bool { return p.ID == id })
	where, named := placed[id]
	old := r.nodes[id]
	if at < 0 && !named {
		r.mu.Lock()
		delete(r.nodes, id)
		r.mu.Unlock()
		return old != nil
	}
	n := old
	if n == nil {
		n = &node{state: Stopped, plugin: Plugin{ID: id}}
		if at >= 0 {
			n.plugin = r.compiled[at]
		}
	}
	source, directory, saved := SourceHost, "", true
	var manifest map[string]any
	if named {
		source, directory, saved, manifest = where.Source, where.Directory, where.Enabled, where.Settings
	}
	saved = saved && !slices.Contains(r.inputs.Disabled, id)
	enabled := saved
	if on, forced := r.switches[id]; forced {
		enabled = on
	}
	changed = old == nil || n.source != source || n.directory != directory || n.enabled != enabled ||
		len(n.manifest)+len(manifest) > 0 && !reflect.DeepEqual(n.manifest, manifest)
	r.mu.Lock()
	n.absent = at < 0
	n.source, n.directory, n.manifest, n.saved, n.enabled = source, directory, manifest, saved, enabled
	r.nodes[id] = n
	r.mu.Unlock()
	return changed
}

// rebuild makes the dependency graph anew: after anything that changes which plugins there are or which are enabled.
func (r *Runtime) rebuild() {
	list := make([]deps.Node, 0, len(r.nodes))
	for _, p := range r.compiled {
		if n := r.nodes[p.ID]; n != nil {
			list = append(list, n.depsNode())
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.nodes)) {
		if n := r.nodes[id]; n.absent {
			list = append(list, n.depsNode())
		}
	}
	r.graph = deps.NewGraph(list)
}
