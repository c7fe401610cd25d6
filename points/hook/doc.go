// Package hook holds the ordinary hooks: small interfaces, each a point of its own, that are called at fixed places of a
// turn. Hooks run one after another in resolved order, each sees what the one before left, and returning nothing leaves
// everything as it was.
//
//	contrib.Supply(hook.ToolCalls, hook.ToolCallFunc(func(ctx context.Context, c hook.Call) (*hook.Call, error) {
//		if c.Tool != "bash" {
//			return nil, nil
//		}
//		c.Arguments = pinned(c.Arguments)
//		return &c, nil
//	}))
//
// All hooks fail open: one that returns an error, panics, passes its deadline or returns what its contract forbids is
// reported and skipped. What must be able to stop a call is a dispatch.policy, not a hook. Hooks of different threads, and
// of subagents, can be called at the same time.
package hook
