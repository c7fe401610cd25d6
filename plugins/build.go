package plugins

import (
	"context"
	"iter"
	"log/slog"
	"os"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/generations"
)

// given is what one generation finds in its graph beside what the host shares.
type given struct {
	facts     Facts
	settings  Settings
	dirs      DataDirs
	logger    *slog.Logger
	lifetime  *generations.Lifetime
	registrar *contrib.Registrar
	exports   *export.Exports
	imports   *export.Imports
	hooks     *hooks
}

// graphOptions are the options of the fx app of one generation: all that it can see, and its module.
func (r *Runtime) graphOptions(p Plugin, g given) fx.Option {
	options := make([]fx.Option, 0, len(r.options.Shared)+4)
	options = append(options,
		fx.Supply(g.facts, g.settings, g.dirs, g.logger, g.lifetime, g.registrar, g.exports, g.imports, r.Environment()),
		// fx would run hooks on goroutines of its own, where a panic ends the process and a deadline leaves them behind.
		fx.Decorate(
			func(fx.Lifecycle) fx.Lifecycle { return g.hooks },
			func(fx.Shutdowner) fx.Shutdowner { return g.hooks },
		))
	for _, s := range r.options.Shared {
		options = append(options, s.option)
	}
	if r.options.Extend != nil {
		if more := r.options.Extend(g.facts); more != nil {
			options = append(options, more)
		}
	}
	return fx.Options(append(options, p.module())...)
}

// build runs the constructors of a plugin.
func (r *Runtime) build(n *node, g given) func(context.Context, *generations.Scope) (generations.App, error) {
	return func(_ context.Context, s *generations.Scope) (generations.App, error) {
		pin := s.Pin()
		g.lifetime, g.registrar = s.Lifetime, s.Registrar
		g.settings.keep = pin
		g.dirs.alive = s.Lifetime.Context()
		g.logger = slog.New(pinned{r.options.Logger.Handler(), pin}).With("plugin", g.facts.ID, "generation", g.facts.Generation)
		g.hooks = &hooks{fault: s.Fault, pin: pin}
		app := fx.New(r.graphOptions(n.plugin, g), fx.NopLogger)
		if err := app.Err(); err != nil {
			return nil, err
		}
		g.hooks.app = app
		return g.hooks, nil
	}
}

// pinned is a log handler that keeps a generation: plugin code that keeps its logger shows as a leak.
type pinned struct {
	slog.Handler
	pin any
}

// WithAttrs implements slog.Handler.
func (p pinned) WithAttrs(a []slog.Attr) slog.Handler { return pinned{p.Handler.WithAttrs(a), p.pin} }

// WithGroup implements slog.Handler.
func (p pinned) WithGroup(name string) slog.Handler { return pinned{p.Handler.WithGroup(name), p.pin} }

// directories makes the data directories of a plugin and reports what could not be made.
func (r *Runtime) directories(n *node, generation string) Directories {
	dirs := r.dataDirs(n)
	for scope, err := range makeDirectories(dirs) {
		r.options.Logger.Warn("make a data directory of a plugin", "plugin", n.id(), "error", err)
		r.diagnose(n, Diagnostic{
			Code: PluginDataDirectoryFailed, Severity: contrib.Warning, Phase: PhaseActivation, Generation: generation,
			Params: map[string]any{"scope": scope},
		})
	}
	return dirs
}

// dataDirs names the data directories of a plugin.
func (r *Runtime) dataDirs(n *node) Directories {
	if r.options.DataDirs == nil {
		return Directories{}
	}
	name := n.directory
	if name == "" {
		name = n.id()
	}
	return r.options.DataDirs(name)
}

// makeDirectories makes what is missing and yields what could not be made.
func makeDirectories(dirs Directories) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, d := range []struct{ scope, path string }{{"home", dirs.Home}, {"workspace", dirs.Workspace}} {
			if d.path == "" {
				continue
			}
			if err := os.MkdirAll(d.path, 0o700); err != nil && !yield(d.scope, err) {
				return
			}
		}
	}
}
