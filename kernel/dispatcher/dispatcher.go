package dispatcher

import (
	"context"
	"log/slog"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
)

// Config says what a dispatcher works with.
type Config struct {
	Registry *contrib.Registry // required
	Logger   *slog.Logger      // nil: slog.Default()
	Home     string            // directory that holds spill/; blank: what is cut from long results is not kept
	// Authority is the host's own check of what a thread may call; nil allows. A denial without a code is
	// tool_unauthorized. The call has no classification yet.
	Authority func(ctx context.Context, c dispatch.Call) dispatch.Verdict
	Watch     Watch // what the entry recorder:default of [Module] tells about calls
}

// Dispatcher takes tool calls through the stages. It holds no state of a call and is safe for use by several goroutines.
type Dispatcher struct {
	registry  *contrib.Registry
	logger    *slog.Logger
	authority func(context.Context, dispatch.Call) dispatch.Verdict
	spill     spill
}

// New makes a dispatcher.
func New(c Config) *Dispatcher {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Dispatcher{registry: c.Registry, logger: c.Logger, authority: c.Authority, spill: spill{c.Home}}
}

// Dispatch is [Dispatcher.Prepare], [Prepared.Run] and [Prepared.Finish] in one.
func (d *Dispatcher) Dispatch(ctx context.Context, t *Turn, r Request) Outcome {
	p := d.Prepare(ctx, t, r)
	return p.Finish(ctx, p.Run(ctx))
}
