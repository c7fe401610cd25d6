// Package approval decides whether a tool call may run: the default entries of the points dispatch.policy and
// dispatch.approval.
//
// [Stage] is the approval stage. For each call it looks at the mode, then at grants, then asks a [Reviewer] where the mode
// says so, and at last the [Operator]. A host without an operator leaves it nil: what would ask is denied.
//
//	stage := approval.New(approval.Config{Home: home}, terminal, nil)
//	verdict, err := stage.Approve(ctx, call)
//
// [Module] contributes the stage and the default policy to an fx graph; Config, Operator and Reviewer are taken from the
// graph when they are there.
//
// The package does not classify calls and does not draw prompts.
package approval
