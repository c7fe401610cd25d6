package approval

import (
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
)

type params struct {
	fx.In

	Config   Config   `optional:"true"`
	Operator Operator `optional:"true"`
	Reviewer Reviewer `optional:"true"`
}

// Module contributes the default approval stage and the default policy. It provides *Stage, and takes Config, Operator and
// Reviewer from the graph when they are there.
var Module = fx.Options(
	fx.Provide(func(p params) *Stage { return New(p.Config, p.Operator, p.Reviewer) }),
	contrib.ProvideSet(func(s *Stage) contrib.Set {
		return contrib.Set{
			contrib.Item[dispatch.Approver](dispatch.Approvers, s, contrib.Named(dispatch.DefaultApproval), contrib.Order(100)),
			contrib.Item(dispatch.Policies, Policy(), contrib.Named(dispatch.DefaultPolicy), contrib.Order(100)),
		}
	}),
)
