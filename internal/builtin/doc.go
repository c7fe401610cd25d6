// Package builtin holds the tools that every host has: read, list, glob, grep, todowrite, todoread,
// question, edit, write and bash.
//
// [Module] contributes them to an fx graph as the source "tools:builtin"; a [Config] in the same graph sets them up. A
// program without fx makes the source itself:
//
//	source := builtin.New(builtin.Config{Home: home})
//	handle, err := tool.Sources.Add(registrar, source, contrib.Named(tool.SourceBuiltin), contrib.Order(100))
//
// Each tool classifies its own calls, and opens only what was classified: a path inside the workspace through an
// [os.Root] on the workspace, a path outside of it only when it is the path that was approved. What a tool remembers of a
// thread is which files the thread has read or written; it is dropped when the thread is released.
package builtin
