// Package subagent holds the contract of subagent runtimes: a [Source] offers a [Runtime] of one type and the profiles
// that it serves.
//
// Whatever a runtime does to think, tools are run by the kernel alone: a subagent's calls go through dispatch with the
// subagent's thread and the id of the call that started it.
package subagent
