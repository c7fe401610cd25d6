// Package dispatcher takes tool calls through the stages of dispatch, in one order that no path avoids: rewriting hooks,
// resolve, audience and exposure, availability, lease, authority, arguments, classification, policy, advice, approval,
// record, run, normalise, seal, record, result hooks.
//
// A call is taken in three steps, so that a round can run calls that only look at the workspace beside each other while
// everything that has an order keeps it:
//
//	prepared := d.Prepare(ctx, turn, request) // in call order; up to approval
//	outcome := prepared.Run(ctx)              // neighbours may run at the same time
//	outcome = prepared.Finish(ctx, outcome)   // in call order; result hooks
//
// [Dispatcher.Dispatch] is all three. A result is a value: refusals and failures of tools are no Go errors, and each call
// has exactly one [Outcome].
//
// A tool runs on a goroutine of its own and is left behind when it does not end in time. From then on nothing that it
// was given works any more. One of the host's that only computes may say so, and is run on the caller's goroutine
// (tool.Binding, Inline). A tool that calls another one goes through the dispatcher again, with its own call as parent.
//
// The package does not plan tools (package toolset), does not decide about approval (package approval) and stores nothing
// but the whole text of results that are too long for a model.
package dispatcher
