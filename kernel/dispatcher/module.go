package dispatcher

import (
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
)

// Module provides a *Dispatcher and contributes the default normalizer and the default recorder, as normalizer:default
// and recorder:default. It asks the graph for a *contrib.Registry and a [Config], whose own Registry may be nil.
var Module = fx.Options(
	fx.Provide(func(r *contrib.Registry, c Config) *Dispatcher {
		c.Registry = r
		return New(c)
	}),
	contrib.ProvideSet(defaults),
)

func defaults(r *contrib.Registry, c Config) contrib.Set {
	return contrib.Set{
		contrib.Item[dispatch.Normalizer](dispatch.Normalizers, &normalizer{spill: spill{c.Home}, note: r.Record},
			contrib.Named(dispatch.DefaultNormalizer), contrib.Order(100)),
		contrib.Item[dispatch.Recorder](dispatch.Recorders, &recorder{c.Watch},
			contrib.Named(dispatch.DefaultRecorder), contrib.Order(100)),
	}
}
