// Package contrib holds contribution points and what is contributed to them.
//
// A [Point] is a named, typed place to contribute to, declared once with [Define]. A [Registry] holds the entries of all
// points of one host. Code adds values through a [Registrar] and gets a [Handle]; revoking the handle takes the entry
// away and restores whatever it shadowed. Readers take the newest [View] and ask a point for its list:
//
//	var Greeters = contrib.Define(contrib.Spec[Greeter]{
//		Name: "demo.greeter", Doc: "Says hello.", Tiers: contrib.TierA,
//		Scopes: contrib.WorkspaceAndThread, Evaluation: contrib.PerCall, Failure: contrib.Skip,
//	})
//
//	registry, err := contrib.New(Greeters)
//	handle, err := Greeters.Add(registry.Builtin(), greeter, contrib.Order(10))
//	for _, g := range Greeters.In(registry.View(), "") {
//		g.Greet()
//	}
//	handle.Revoke()
//
// Lists are sorted by order and then by registration. An entry that replaces a target shadows the entries of that name
// while it lives; of several replacements that of the thread wins, and then the latest. What was lost by a guarding
// target through a fault is held: a stand-in that refuses takes its place until the operator decides.
//
// Several changes become visible at once with [Registry.Batch]. A plugin adds through a [Staging], which publishes a
// guard in place of each value, and all of them with one commit. In an fx app, [Provide], [Supply], [ProvideSet] and
// [InModule] contribute while the app is built.
//
// The package knows nothing of agents and runs nothing: gates, deadlines and background work are those of generations.
package contrib
