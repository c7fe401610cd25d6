// Package plugins says what a plugin is, and runs plugins.
//
// A [Plugin] is a value: an id, a version, what it requires, and an fx module that contributes to points (package
// contrib), exports services and imports those of others (package export).
//
//	var Plugin = plugins.Plugin{
//		ID: "acme.review-core", Version: "1.2.0",
//		Requires: deps.Requirements{"acme.review-base": "1.0.0"},
//		Module: fx.Options(
//			fx.Provide(newJournal),
//			contrib.Provide(tool.Sources, newSummaryTool),
//			export.Provide[review.Service](newService),
//			export.Import[base.Store]("acme.review-base"),
//		),
//	}
//
// A [Runtime] runs each plugin in a generation of its own: an fx app behind a gate, which is built, published at once,
// switched off and on, restarted with other settings, and torn down, while the host and the other plugins go on. [Module]
// makes it a part of a host's fx app. A plugin that the host trusts like its own code can be installed without any of
// this, by [Plugin.AsModule]; its module is the same.
//
// # What a constructor may ask for
//
// [Facts], [Environment], [Settings], [DataDirs], *generations.Lifetime, *contrib.Registrar, *slog.Logger, imported
// interfaces, *export.Imports, and what the host shares on purpose with [Share], [ShareEach] and Options.Extend. Nothing else of the
// host is in reach: the graph of a generation is an app of its own.
//
// # What an operator sees
//
// A [Snapshot] shows each plugin with its [State], its blockers and diagnostics (a [Code] with parameters, never text of
// the plugin), and what a stopped generation left behind. Operations answer with a [Result].
//
// # What it costs
//
// Measured on two cores that were busy with other work. One activation and deactivation takes 0.5 ms with five
// contributions that have a constructor each, and 1.2 ms with twenty (BenchmarkActivate); one constructor that returns
// twenty contributions as a contrib.Set costs as much as one. The module's graph is checked once, and not at each
// activation. A plugin that is replaced without pause while four goroutines call it is replaced about 200 times a second,
// and no call waits longer than 6 ms (BenchmarkHotSwap): calls in a generation that leaves are answered by it, later ones
// are refused at once.
//
// The package does not discover files, and knows nothing of agents: a host reads its manifests and hands them over as
// [Inputs].
package plugins
