package generators

import (
	"log/slog"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/generator"
)

type params struct {
	fx.In

	Access    *modelaccess.Access
	Config    kernel.Config
	Logger    *slog.Logger `optional:"true"`
	Lifecycle fx.Lifecycle
}

// order is that of both targets.
const order = 100

// Module contributes both generators. It takes *modelaccess.Access from the graph, and the home of kernel.Config.
var Module = contrib.ProvideSet(func(p params) contrib.Set {
	log := p.Logger
	if p.Config.Logger != nil {
		log = p.Config.Logger
	}
	if log == nil {
		log = slog.Default()
	}
	w := NewWelcome(p.Config.Home, log)
	p.Lifecycle.Append(fx.StopHook(w.Close))
	return contrib.Set{
		contrib.Item(generator.CommitMessages, CommitMessages(p.Access), contrib.Named(generator.CommitMessageTarget), contrib.Order(order)),
		contrib.Item[generator.WelcomeGenerator](generator.Welcomes, w, contrib.Named(generator.WelcomeTarget), contrib.Order(order)),
	}
})
