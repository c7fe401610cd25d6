package rawhook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
)

// RewritePrompt is the contract of rawhook.rewrite_prompt.
//
// RewritePrompt returns another text, empty included, or nil to keep it. Calls may overlap; the hook owns its
// arguments, which are copies.
type RewritePrompt interface {
	RewritePrompt(ctx context.Context, i hook.PromptInfo, composed string) (*string, error)
}

// RewritePromptFunc makes a RewritePrompt of a function.
func RewritePromptFunc(f func(ctx context.Context, i hook.PromptInfo, composed string) (*string, error)) RewritePrompt {
	return rewritePromptFunc(f)
}

type rewritePromptFunc func(ctx context.Context, i hook.PromptInfo, composed string) (*string, error)

func (f rewritePromptFunc) RewritePrompt(ctx context.Context, i hook.PromptInfo, composed string) (*string, error) {
	return f(ctx, i, composed)
}

// RewritePrompts is the point rawhook.rewrite_prompt.
var RewritePrompts = contrib.Define(contrib.Spec[RewritePrompt]{
	Name: "rawhook.rewrite_prompt", Doc: "Replaces the composed prompt.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardRewritePrompt,
})
