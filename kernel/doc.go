// Package kernel runs agents: threads, their turns, and the stream of events that a turn makes.
//
// [Module] puts a [Kernel] into an fx app. A [Thread] is an open conversation, and [Thread.Start] describes a turn, which
// runs while its events are read:
//
//	var k *kernel.Kernel
//	app := fx.New(kernel.Module, stock.Host, fx.Populate(&k))
//	...
//	thread, err := k.Create(ctx, kernel.Options{Workspace: dir})
//	turn := thread.Start(ctx, kernel.Input{Text: "list"})
//	for e := range turn.Events() {
//		if e, ok := e.(kernel.TextDelta); ok {
//			fmt.Print(e.Text)
//		}
//	}
//	result, err := turn.Wait()
//
// # What a turn does
//
// The user message goes through its hooks and is stored. The turn pins a view: the tools are planned and frozen, the
// pipeline of middlewares is folded, and the sources of agent.context compose the prompt. Then rounds follow: the thread is
// compacted when that is due, the request goes through the model hooks and to the model, the answer is stored, and its calls
// go through the stages of dispatch, one after another or, where they only look, at the same time. Each step is stored
// before the next one starts, so that a thread can be taken up again after a crash. A turn ends with one of the stop
// reasons; a plugin that fails, stops or is replaced in the middle of it costs a note or a refused call, never the turn.
//
// With [Subagents] an agent can hand a task to a subagent: a thread of its own for as long as that call runs. It is made of
// the same parts, within the limits of the turn that started it, and what it does is stored in the log and told in the
// events of that turn, marked as its own.
//
// Beside turns there are side questions ([Thread.Ask]), compaction by hand ([Thread.Compact]), slash commands
// ([Kernel.Expand], [Kernel.Execute]), forks and deletion ([Kernel.Fork], [Kernel.Delete]). [Kernel.ExplainPrompt] and its
// likes say whose each part of the next request is, why, and what it costs, without sending one.
//
// # What it costs
//
// BenchmarkTurn runs a turn with one tool call, with policy, approval, recording, a log in memory and a listener: it takes
// 11 to 14 µs and 45 allocations, and no more allocations with 1,000 known tools or 1,000 earlier messages. The floor, the
// same work in a loop written by hand (BenchmarkTurnFloor), is 2 µs and 25 allocations on the same machine. Six records of
// the log take 2.6 µs of it, the stages before the tool 1.8 µs, the context with the time limit of the turn 0.9 µs, most of
// the rest is memory. A tool that may wait has a goroutine of its own, and handing over to it and back takes 10 µs more as
// long as another processor is idle and has to be woken for it (BenchmarkTurn/apart). Fifty calls one after another take
// 30 times the allocations of one. A prompt of twenty unchanged sections is composed without an allocation
// (BenchmarkComposePrompt).
//
// # Its parts
//
// The parts have packages of their own below this one: threadlog stores, toolset plans, dispatcher dispatches, approval
// decides, composer composes the prompt, modelhook runs the hooks of requests, compaction makes room, retry tries again,
// pump delivers signals and traces. Package kerneltest starts a kernel for tests, with a scripted model.
//
// The kernel reads contribution points and knows neither plugins nor files of configuration nor a terminal.
package kernel
