// Package crystalcmd is the command line of a host: `crystal run` and the verbs beside it.
//
// [Main] is the whole main function of a host. A host with plugins is
//
//	func main() { crystalcmd.Main(reviewcore.Plugin, reviewui.Plugin) }
//
// Results go to stdout alone; notes, notices and errors go to stderr, logs to a file of the home directory. The exit codes
// are constants of this package. Every verb works on values that are passed in, so that a test runs it without a process.
//
// A program that embeds the kernel needs none of this: see the package stock for the built-in parts as fx options.
package crystalcmd
