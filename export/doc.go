// Package export passes typed services from one plugin to another.
//
// The provider exports a value as an interface that lives in a package of its own, so that both sides can import it:
//
//	export.Provide[review.Service](newService)
//
// A consumer that requires the provider puts the interface into its own graph; from there on its constructors ask for it
// like for anything else:
//
//	export.Import[review.Service]("acme.review-core")
//
// What the consumer gets is the provider's value itself, with no guard in between. That is safe because a provider starts
// before its consumers and stops after them, and it holds as long as a consumer keeps all work that uses an import under
// its own lifetime.
//
// The options find their counterparts in the graph: a host puts one [Exports] and one [Imports] into the graph of each
// plugin ([NewExports], [NewImports]). Plugins that are installed into one app side by side are joined by [Publish].
// Nothing is resolved once a plugin has started: both are sealed then.
package export
