// Package headless prints a turn that nobody watches: as a transcript for people, or as lines of JSON for programs.
//
// Both printers take the events of the kernel as they come:
//
//	out := headless.NewTranscript(stdout, stderr, headless.Style{})
//	out.Begin(init)
//	result, err := thread.Run(ctx, input, out.Event)
//	out.End(headless.End{Result: result, Status: "completed", Hint: hint})
//
// A reply is printed when its round is committed: what an attempt brought that is sent again is never printed. Text is
// cleaned for people and left as it is, escaped by JSON, for programs.
package headless
