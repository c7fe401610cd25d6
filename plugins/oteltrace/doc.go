// Package oteltrace is a plugin that sends what agents do to an OpenTelemetry collector, by the semantic conventions for
// generative AI.
//
//	func main() { crystalcmd.Main(oteltrace.New(oteltrace.Config{})) }
//
// A turn is a span invoke_agent, each request to a model below it a span chat, and each tool call a span execute_tool, below
// the call that made it or the turn. What a subagent does lies below the call that started it. The spans carry names, ids,
// counts of tokens and the codes of failures, and never what was said. With a zero [Config] they go to where the standard
// OTEL_ variables of the environment say.
//
// The spans are made from the events of the kernel, whose times they have. Where an event was lost, because the queue of the
// sink was full, a span is missing or ends with its turn as unfinished. A collector that is slow, gone or refuses what it is
// sent costs spans and a line in the log file. No turn waits for it, and a host that stops waits for a few seconds.
//
// The plugin lives in a module of its own, so that only hosts that use it have its dependencies.
package oteltrace
