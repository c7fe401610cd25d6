package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Prompt is the contract of hook.prompt.
//
// Prompt returns text to append: it is trimmed and put after a blank line; blank adds nothing. text is the prompt
// as the hook before left it. Calls may overlap; the hook owns its arguments, which are copies.
type Prompt interface {
	Prompt(ctx context.Context, i PromptInfo, text string) (add string, err error)
}

// PromptFunc makes a Prompt of a function.
func PromptFunc(f func(ctx context.Context, i PromptInfo, text string) (add string, err error)) Prompt {
	return promptFunc(f)
}

type promptFunc func(ctx context.Context, i PromptInfo, text string) (add string, err error)

func (f promptFunc) Prompt(ctx context.Context, i PromptInfo, text string) (add string, err error) {
	return f(ctx, i, text)
}

// Prompts is the point hook.prompt.
var Prompts = contrib.Define(contrib.Spec[Prompt]{
	Name: "hook.prompt", Doc: "Appends to the composed prompt.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardPrompt,
})
