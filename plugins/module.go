package plugins

import (
	"context"
	"errors"
	"log/slog"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
)

// Module is the runtime as a part of a host's fx app. It takes *contrib.Registry from the graph, and *slog.Logger,
// [Options] and values named by [Share] when they are there; it provides *[Runtime]. The plugins are activated when the
// app starts and shut down when it stops, after the readers of the graph (see [contrib.ProvideReader]), whether or not
// anybody asks for the runtime. Options.Logger beats the logger of the graph.
func Module(list ...Plugin) fx.Option {
	return fx.Module("plugins",
		fx.Provide(func(in parts) (*Runtime, error) {
			o := in.Options
			if o.Logger == nil {
				o.Logger = in.Logger
			}
			o.Shared = append(o.Shared[:len(o.Shared):len(o.Shared)], in.Shared...)
			r, err := New(in.Registry, o, list...)
			if err != nil {
				return nil, err
			}
			in.Lifecycle.Append(fx.Hook{OnStart: r.Start, OnStop: func(ctx context.Context) error {
				return errors.Join(in.Readers.StopAll(ctx), r.Shutdown(ctx))
			}})
			return r, nil
		}),
		fx.Invoke(func(*Runtime) {}),
	)
}

// parts is what a runtime is made of in a host's graph.
type parts struct {
	fx.In

	Lifecycle fx.Lifecycle
	Registry  *contrib.Registry
	Logger    *slog.Logger `optional:"true"`
	Options   Options      `optional:"true"`
	Shared    []Shared     `group:"crystal.plugins.shared"`
	Readers   contrib.Readers
}
