package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/generations"
)

// ModuleGeneration is the generation id of a plugin that is installed as a module.
const ModuleGeneration = "module"

// AsModule installs the plugin straight into a host's fx app as a trusted module. Its contributions have the origin
// module:<id> and are direct values: no guard, no gate, no deadline of a guard. The host's whole graph is in reach, which
// has to hold a *slog.Logger when a constructor asks for one.
//
// Requirements and imports are served by the other modules of the app, in whatever order they are listed; a missing or
// unfit one fails the build. Background work starts with the start hooks of the module; when it fails, the app shuts down
// and its stop returns the error. At the stop of the app the context of the lifetime is cancelled and its work waited for,
// then the stop hooks of the module run, then what the lifetime owns is closed. Settings and data directories come from
// the [Options] of the graph, when there are some.
func (p Plugin) AsModule() fx.Option {
	if refused := manifestBlockers(p); len(refused) > 0 {
		return fx.Error(fmt.Errorf("plugins: install %q as a module: %s %v", p.ID, refused[0].Code, refused[0].Params))
	}
	providers := slices.Sorted(maps.Keys(p.Requires))
	return contrib.InModule(p.ID,
		fx.Provide(fx.Private,
			p.moduleFacts,
			p.moduleSettings,
			p.moduleDirs,
			moduleEnvironment,
			export.NewExports,
			func(in installedModules) (*export.Imports, error) {
				if err := p.servedBy(in.Modules); err != nil {
					return nil, err
				}
				return export.NewModuleImports(providers...), nil
			},
			newModuleLife(p.ID),
			(*moduleLife).lifetime,
		),
		fx.Supply(fx.Annotate(installed{p.ID, p.Version}, fx.ResultTags(modulesGroup))),
		// First, so that it is the last to stop: what the lifetime owns is closed when nothing uses it any more.
		fx.Invoke(func(l *moduleLife, lc fx.Lifecycle) { lc.Append(fx.StopHook(l.close)) }),
		p.module(),
		export.Publish(p.ID, p.module()),
		fx.Invoke(func(i *export.Imports, e *export.Exports, l *moduleLife, lc fx.Lifecycle) {
			i.Seal()
			e.Seal()
			// Last, so that it is the last to start and the first to stop.
			lc.Append(fx.StartStopHook(l.start, l.stop))
		}),
	)
}

const modulesGroup = `group:"crystal.plugins.modules"`

// installed is a plugin that is installed as a module.
type installed struct{ id, version string }

type installedModules struct {
	fx.In

	Modules []installed `group:"crystal.plugins.modules"`
}

// servedBy checks the requirements of p against the modules of the app.
func (p Plugin) servedBy(modules []installed) error {
	versions := map[string]string{}
	for _, m := range modules {
		if _, twice := versions[m.id]; twice {
			return fmt.Errorf("%w: %q is installed twice as a module", ErrDuplicateID, m.id)
		}
		versions[m.id] = m.version
	}
	for _, id := range slices.Sorted(maps.Keys(p.Requires)) {
		observed, known := versions[id]
		switch {
		case !known:
			return fmt.Errorf("plugins: module %q requires %q, which is not installed; install it as a module too", p.ID, id)
		case !deps.Satisfied(p.Requires[id], observed):
			return fmt.Errorf("plugins: module %q requires %q %s, but %s is installed", p.ID, id, p.Requires[id], observed)
		}
	}
	return nil
}

// moduleHost is what a module takes from the host for itself.
type moduleHost struct {
	fx.In

	Options Options `optional:"true"`
}

func (p Plugin) moduleFacts(in moduleHost) (Facts, error) {
	if !deps.HostSatisfied(p.MinHostVersion, in.Options.HostVersion) {
		return Facts{}, fmt.Errorf("plugins: module %q needs a host of version %s; this is %q", p.ID, p.MinHostVersion, in.Options.HostVersion)
	}
	return Facts{ID: p.ID, Version: p.Version, Generation: ModuleGeneration, HostVersion: in.Options.HostVersion}, nil
}

func (p Plugin) moduleSettings(in moduleHost) (Settings, error) {
	r, n, err := p.asNode(in)
	if err != nil {
		return Settings{}, err
	}
	s, refused, _ := r.resolveSettings(n)
	if len(refused) > 0 {
		return s, fmt.Errorf("plugins: settings of module %q: %s %v", p.ID, refused[0].Code, refused[0].Params)
	}
	return s, nil
}

// asNode stands for the plugin where its settings and directories are worked out: the same layers count for a module.
func (p Plugin) asNode(in moduleHost) (*Runtime, *node, error) {
	r := &Runtime{options: in.Options}
	r.options.Logger = in.Options.logger()
	inputs, err := r.read(context.Background())
	if err != nil {
		return nil, nil, err
	}
	r.inputs = inputs
	n := &node{plugin: p, source: SourceHost}
	if where, named := inputs.placements()[p.ID]; named {
		n.source, n.directory, n.manifest = where.Source, where.Directory, where.Settings
	}
	return r, n, nil
}

func (p Plugin) moduleDirs(in moduleHost, lc fx.Lifecycle) (DataDirs, error) {
	r, n, err := p.asNode(in)
	if err != nil {
		return DataDirs{}, err
	}
	dirs := r.dataDirs(n)
	for _, err := range makeDirectories(dirs) {
		r.options.Logger.Warn("make a data directory of a plugin", "plugin", p.ID, "error", err)
	}
	alive, end := context.WithCancelCause(context.Background())
	lc.Append(fx.StopHook(func() { end(generations.ErrStopping) }))
	return DataDirs{dirs: dirs, alive: alive}, nil
}

func moduleEnvironment(in struct {
	fx.In

	Runtime *Runtime `optional:"true"`
},
) Environment {
	if in.Runtime == nil {
		return Environment{}
	}
	return in.Runtime.Environment()
}
