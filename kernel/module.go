package kernel

import (
	"context"
	"log/slog"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points"
)

// Module puts a kernel into an fx app: the registry with every point of the catalog, the built-in stages of dispatch, the
// built-in prompt sections, retry, compaction, and *Kernel itself, which is stopped with the app.
//
// What a host may want otherwise is in the graph with a default, and is exchanged with fx.Replace or fx.Decorate: Config,
// Models and threadlog.Store (threads live in memory by default). A *slog.Logger of the graph is used when Config has none.
var Module = fx.Options(
	fx.Provide(
		func() (*contrib.Registry, error) { return contrib.New(points.Catalog()...) },
		func(r *contrib.Registry) *contrib.Registrar { return r.Builtin() },
		func() Config { return Config{} },
		func() Models { return ModelsFunc(byName) },
		func() threadlog.Store { return threadlog.Memory() },
		func(c Config, l logger) dispatcher.Config {
			return dispatcher.Config{Logger: l.of(c), Home: c.Home}
		},
		fromGraph,
	),
	contrib.ProvideReader[*Kernel](),
	dispatcher.Module,
	approval.Module,
	retry.Module,
	compaction.Module,
	composer.Module,
	contrib.ProvideSet(commandSection),
	contrib.ProvideSet(middlewares),
)

// logger is the host's logger, for a Config that names none.
type logger struct {
	fx.In

	Logger *slog.Logger `optional:"true"`
}

func (l logger) of(c Config) *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	return l.Logger
}

type graph struct {
	fx.In

	Logger     logger
	Registry   *contrib.Registry
	Config     Config
	Store      threadlog.Store
	Models     Models
	Dispatcher *dispatcher.Dispatcher
	Approval   *approval.Stage
	Live       *composer.Live
	Lifecycle  fx.Lifecycle
}

func fromGraph(g graph) *Kernel {
	g.Config.Logger = g.Logger.of(g.Config)
	k := New(Parts{
		Registry: g.Registry, Config: g.Config, Store: g.Store, Models: g.Models, Dispatcher: g.Dispatcher, Approval: g.Approval,
		Live: g.Live,
	})
	g.Lifecycle.Append(fx.Hook{OnStop: func(ctx context.Context) error { return k.Stop(ctx) }})
	return k
}
