package modelaccess

import (
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
)

type params struct {
	fx.In

	Kernel *kernel.Kernel
	Config Config         `optional:"true"`
	Retry  retry.Settings `optional:"true"`
}

// first puts the access before every observer who may read the facts.
const first = -1 << 20

// Module provides the *Access of the graph's kernel and shares it with plugins. It takes [Config] and retry.Settings from the
// graph when they are there.
var Module = fx.Options(
	fx.Provide(
		func(p params) *Access {
			if p.Config.Retry == (retry.Settings{}) {
				p.Config.Retry = p.Retry
			}
			return New(p.Kernel, p.Config)
		},
		(*Access).Facts,
		func(a *Access) plugins.Each[model.Clients] { return a.Clients },
	),
	contrib.Provide(thread.Observers, func(a *Access) thread.Observer { return a }, contrib.Order(first)),
	fx.Invoke(func(k *kernel.Kernel, s *approval.Stage, a *Access) {
		s.ReviewBy(a.Reviewer())
		k.FactsBy(a.Facts())
	}),
	plugins.Share[model.Facts](),
	plugins.ShareEach[model.Clients](),
)
