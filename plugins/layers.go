package plugins

import (
	"maps"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
)

// layer is one source of a plugin's settings.
type layer struct {
	name      string // defaults, manifest, home, workspace
	workspace bool   // HomeOnly fields are refused in it
	object    map[string]any
}

// namespaceFault is the first fault of a plugin's part of one layer.
type namespaceFault struct{ field, layer, reason string }

func (f *namespaceFault) params() map[string]any {
	return map[string]any{"field": f.field, "layer": f.layer, "reasonCode": f.reason}
}

// resolveSettings merges the layers of a plugin's settings. Blockers say why they cannot be used; notes are no reason
// not to start.
func (r *Runtime) resolveSettings(n *node) (s Settings, blockers []Blocker, notes []Diagnostic) {
	layers := []layer{
		{"manifest", n.source == SourceProject, n.manifest},
		{"home", false, r.inputs.Home.Plugins[n.id()]},
		{"workspace", true, r.inputs.Workspace.Plugins[n.id()]},
	}
	if len(n.plugin.Settings) == 0 {
		for _, l := range layers {
			if len(l.object) > 0 {
				return Settings{}, nil, []Diagnostic{{
					Code: PluginSettingsNotDeclared, Severity: contrib.Warning, Phase: PhaseSettings,
					Params: map[string]any{"pluginId": n.id()},
				}}
			}
		}
		return Settings{}, nil, nil
	}
	for name, document := range map[string]SettingsLayer{"home": r.inputs.Home, "workspace": r.inputs.Workspace} {
		if document.Err != nil {
			r.options.Logger.Warn("read a settings document", "layer", name, "error", document.Err)
			blockers = append(blockers, blocker(PluginSettingsDocumentInvalid, PhaseSettings, map[string]any{"layer": name}))
		}
	}
	slices.SortFunc(blockers, func(a, b Blocker) int {
		return strings.Compare(a.Params["layer"].(string), b.Params["layer"].(string))
	})
	merged := defaults(n.plugin.Settings)
	for _, l := range layers {
		clean, fault := checkLayer(n.plugin.Settings, l)
		if fault != nil {
			blockers = append(blockers, blocker(PluginSettingsNamespaceInvalid, PhaseSettings, fault.params()))
			continue
		}
		merge(merged, clean)
	}
	return Settings{object: merged}, blockers, nil
}

func defaults(fields []Field) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		if f.Default != nil {
			out[f.Key] = plain(f.Default)
		}
	}
	return out
}

// checkLayer checks the part of one layer and returns it with the keys as they were declared. Keys are looked up without
// case; the first fault in the order of keys counts.
func checkLayer(fields []Field, l layer) (map[string]any, *namespaceFault) {
	out := make(map[string]any, len(l.object))
	for _, key := range slices.Sorted(maps.Keys(l.object)) {
		fault := func(reason string) (map[string]any, *namespaceFault) {
			return nil, &namespaceFault{field: key, layer: l.name, reason: reason}
		}
		at := slices.IndexFunc(fields, func(f Field) bool { return strings.EqualFold(f.Key, key) })
		if at < 0 {
			return fault("unknown")
		}
		f := fields[at]
		if _, twice := out[f.Key]; twice {
			return fault("duplicate")
		}
		if f.HomeOnly && l.workspace {
			return fault("homeOnly")
		}
		v, reason := f.value(plain(l.object[key]))
		if reason != "" {
			return fault(reason)
		}
		out[f.Key] = v
	}
	return out, nil
}

// merge puts the members of over into base: objects field by field, deeply; everything else replaces.
func merge(base, over map[string]any) {
	for key, v := range over {
		below, isObject := base[key].(map[string]any)
		above, too := v.(map[string]any)
		if isObject && too {
			merge(below, above)
			continue
		}
		base[key] = v
	}
}
