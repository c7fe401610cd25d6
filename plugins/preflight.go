package plugins

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/generations"
)

// preflight finds every reason why a plugin cannot be tried. Nothing of the plugin runs.
func (r *Runtime) preflight(n *node) []Blocker {
	if n.absent {
		return []Blocker{blocker(PluginNotCompiled, PhaseAdmission, map[string]any{"pluginId": n.id(), "directory": n.directory})}
	}
	out := manifestBlockers(n.plugin)
	if floor := n.plugin.MinHostVersion; !deps.HostSatisfied(floor, r.options.HostVersion) {
		if _, err := deps.ParseVersion(floor); err == nil {
			out = append(out, blocker(PluginHostVersionUnsatisfied, PhaseAdmission,
				map[string]any{"required": floor, "observed": r.options.HostVersion}))
		}
	}
	if keeper := r.nameKeeper(n); keeper != "" {
		out = append(out, blocker(PluginNameConflict, PhaseAdmission,
			map[string]any{"name": n.plugin.DisplayName(), "pluginId": n.id(), "keptBy": keeper}))
	}
	dependencies := r.dependencyBlockers(n)
	out = append(out, dependencies...)
	if len(dependencies) == 0 {
		out = append(out, r.conflicts(n)...)
	}
	_, refused, _ := r.resolveSettings(n)
	out = append(out, refused...)
	n.checkOnce.Do(func() { n.checked = r.checkGraph(n.plugin) })
	if n.checked != nil {
		out = append(out, graphBlocker(n.checked))
	}
	return out
}

// nameKeeper returns the enabled plugin that comes earlier in load order and has the display name already.
func (r *Runtime) nameKeeper(n *node) string {
	for _, id := range r.graph.Order() {
		if id == n.id() {
			return ""
		}
		if other := r.nodes[id]; other.enabled && !other.absent && strings.EqualFold(other.plugin.DisplayName(), n.plugin.DisplayName()) {
			return id
		}
	}
	return ""
}

func (r *Runtime) dependencyBlockers(n *node) []Blocker {
	var out []Blocker
	if cycle := r.graph.Cycle(n.id()); cycle != nil {
		out = append(out, blocker(PluginDependencyCycle, PhaseDependency, map[string]any{"cyclePluginIds": cycle}))
	}
	for _, d := range r.graph.Unmet(n.id(), r.reason) {
		if len(out) > 0 && out[0].Code == PluginDependencyCycle && slices.Contains(r.graph.Cycle(d.Provider), n.id()) {
			continue // the cycle says it
		}
		out = append(out, blocker(PluginDependencyUnsatisfied, PhaseDependency, map[string]any{
			"providerId": d.Provider, "requiredVersion": d.Required, "observedVersion": d.Observed, "reason": string(d.Status),
		}))
	}
	return out
}

// conflicts finds interfaces that two direct providers export to one consumer. All providers are active.
func (r *Runtime) conflicts(n *node) []Blocker {
	exporters := map[reflect.Type][]string{}
	var found []reflect.Type
	for _, provider := range r.graph.Providers(n.id()) {
		p := r.nodes[provider]
		if !p.serving() {
			continue
		}
		for _, contract := range p.live.exports.Contracts() {
			exporters[contract] = append(exporters[contract], provider)
			if len(exporters[contract]) == 2 {
				found = append(found, contract)
			}
		}
	}
	var out []Blocker
	for _, contract := range found {
		slices.Sort(exporters[contract])
		out = append(out, blocker(PluginApiAssemblyConflict, PhaseDependency,
			map[string]any{"contract": contract.PkgPath() + "." + contract.Name(), "providerIds": exporters[contract]}))
	}
	return out
}

// checkGraph lets fx look for what the module's graph lacks, without running a constructor. The graph of a plugin does
// not change while the host runs, so once is enough.
func (r *Runtime) checkGraph(p Plugin) error {
	return fx.ValidateApp(
		r.graphOptions(p, given{
			facts: Facts{ID: p.ID, Version: p.Version, HostVersion: r.options.HostVersion}, logger: slog.New(slog.DiscardHandler),
			dirs: DataDirs{alive: context.Background()}, lifetime: &generations.Lifetime{}, registrar: &contrib.Registrar{},
			exports: export.NewExports(), imports: export.NewImports(nil),
		}),
		fx.NopLogger)
}

// graphBlocker turns an error of the graph into a blocker.
func graphBlocker(err error) Blocker {
	if b, ok := serviceBlocker(err); ok {
		return b
	}
	return blocker(PluginGraphInvalid, PhaseAdmission, map[string]any{"detail": graphDetail(err)})
}

// serviceBlocker finds a refused export or import in an error.
func serviceBlocker(err error) (Blocker, bool) {
	var out *export.ExportError
	if errors.As(err, &out) {
		return blocker(PluginApiExportInvalid, PhaseDependency,
			map[string]any{"contract": out.Contract, "reasonCode": string(out.Reason)}), true
	}
	var in *export.ImportError
	if errors.As(err, &in) {
		return blocker(PluginServiceExportMissing, PhaseDependency,
			map[string]any{"providerId": in.Provider, "contract": in.Contract, "reasonCode": string(in.Reason)}), true
	}
	return Blocker{}, false
}

// sites are the places in the source that fx names; they are paths of the machine that built the host.
var sites = regexp.MustCompile(`\s*\([^()\s]*\.(go|s):\d+\)|\S*/\S+\.go:\d+`)

const detailLimit = 400

// graphDetail is what fx has to say, without paths and on one line.
func graphDetail(err error) string {
	detail := strings.Join(strings.Fields(sites.ReplaceAllString(err.Error(), "")), " ")
	if i := strings.LastIndex(detail, "missing type"); i >= 0 {
		detail = detail[i:]
	}
	if len(detail) > detailLimit {
		detail = strings.ToValidUTF8(detail[:detailLimit], "")
	}
	return detail
}
