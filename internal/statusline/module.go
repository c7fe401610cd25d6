package statusline

import (
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/status"
)

// Module provides the *Store of the graph's registry, and gives every generation of a plugin its own status.Updates.
var Module = fx.Options(
	fx.Provide(
		func(r *contrib.Registry, l fx.Lifecycle) *Store {
			s := New(r)
			l.Append(fx.StopHook(s.Close))
			return s
		},
		func(s *Store) plugins.Each[status.Updates] { return s.Updates },
	),
	plugins.ShareEach[status.Updates](),
)
