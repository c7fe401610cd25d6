// Package toolset plans the tools of a turn: it asks the sources, admits what they offer, settles who owns a name, lets
// restrictions edit, and freezes the rest in a [Snapshot].
//
//	snapshot, notes, err := toolset.Plan(ctx, toolset.Inputs{
//		Sources:      tool.Sources.Entries(view, thread),
//		Restrictions: tool.Restrictions.Entries(view, thread),
//		Planning:     tool.Planning{Thread: string(thread), Catalog: tool.CatalogWork},
//	})
//
// Nothing is dropped in silence: what was left out is in notes. The error is that of a built-in source, without which a
// turn does not start.
//
// A snapshot serves one turn, however the registry changes meanwhile. It holds what a call needs, resolved once: compiled
// schemas, names in both directions, the list that the model is shown. Equal inputs give equal bytes. Of a plugin it
// holds nothing but proxies, so a tool whose plugin is gone is still found and then refused.
//
// The package does not run tools: that is package dispatcher.
package toolset
