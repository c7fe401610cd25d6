// Package dispatch holds the contracts of the stages that a tool call passes: who may forbid it, who approves it, who
// writes it down, and who shapes its result.
//
//	contrib.Provide(dispatch.Policies, func() dispatch.Policy {
//		return dispatch.PolicyFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Verdict, error) {
//			if c.Definition.Canonical() == "bash" {
//				return dispatch.Denied("acme_no_shell", "This workspace runs no shell."), nil
//			}
//			return dispatch.Allowed(), nil
//		})
//	})
//
// Policies and approvers guard: every entry has to allow, the zero [Verdict] denies, and an entry that fails or is gone
// denies. Recorders only look on, so one that fails is skipped. A normalizer that fails makes the result unusable.
//
// The stages are resolved for each call from the newest view. Each has a target that a plugin may replace; when the
// plugin that replaced a policy or an approval is lost through a fault, its target stays closed instead of falling back.
//
// The order of the stages, and what comes between them, is the business of the kernel.
package dispatch
