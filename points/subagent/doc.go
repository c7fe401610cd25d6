// Package subagent holds the contract of subagent runtimes: a [Source] offers a [Runtime] of one type and the profiles
// that it serves. An agent starts a subagent by its profile; the runtime makes a [Session] for that one task.
//
// Whatever a session does to think, tools are run by the kernel alone: [Input].Call takes a call through dispatch, with the
// subagent's thread and the id of the call that started it.
//
//	func (session) Run(ctx context.Context, in subagent.Input, emit func(subagent.Event) error) (*subagent.Outcome, error) {
//		r, err := in.Call(ctx, "grep", json.RawMessage(`{"pattern":"TODO"}`))
//		if err != nil {
//			return nil, err
//		}
//		return &subagent.Outcome{Text: summarise(in.Text, r)}, nil
//	}
//
// The kernel has a runtime of its own, which runs subagents as threads.
package subagent
