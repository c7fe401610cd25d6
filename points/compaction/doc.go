// Package compaction holds the contracts of compaction: who makes the summary of older turns, and which tools' results
// may be dropped without one.
//
// A [Summarizer] replaces the built-in one (target [LocalSummary]) or is added with an order above it: the last entry has
// authority. A [ToolPolicy] says yes or no for the tools that it knows; the first answer counts.
//
//	contrib.Provide(compaction.Summarizers, newSummarizer, contrib.ReplaceTarget(compaction.LocalSummary))
//
// When a thread is compacted, what is folded and where the tail begins is the kernel's: neither contract decides it.
package compaction
