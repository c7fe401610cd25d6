// Package deps knows versions, compatibility lines and the dependency graph of plugins. It is pure: it reads nothing,
// starts nothing and holds no state that changes.
//
// A [Version] is three numbers. A provider satisfies a requirement when its version is at least the required one and
// stands on the same [Line]: the same major number and, while the major number is 0, the same minor number.
//
// A [Graph] is made from the nodes of one host. It gives the load order (providers first), the shortest cycle through
// each plugin, what each plugin still lacks, and the order in which a plugin and its dependants have to stop:
//
//	g := deps.NewGraph([]deps.Node{
//		{ID: "acme.core", Version: "1.2.0", Enabled: true, Requires: deps.Requirements{"acme.base": "1.0.0"}},
//		{ID: "acme.base", Version: "1.4.0", Enabled: true},
//	})
//	g.Order()                // acme.base, acme.core
//	g.StopOrder("acme.base") // acme.core, acme.base
//
// The graph holds what was declared. What moves while plugins start and stop, the state of each provider, is given to
// [Graph.Unmet] by its caller.
//
// An order and all blockers of 1,000 plugins that require three providers each take about 2 ms (BenchmarkPlan1000).
package deps
