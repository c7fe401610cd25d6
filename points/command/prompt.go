package command

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Invocation is one use of a command.
type Invocation struct {
	Name      string // as typed, in lower case, without the slash
	Arguments string // trimmed; empty when bare
	Thread    string // when known
	Mode      string
}

// Prompt is a command that expands to the text of a turn.
//
// Name, aliases and description are read once, at the add. Names match ^[A-Za-z][A-Za-z0-9_-]{0,63}$, with or without
// the slash, and are compared ignoring case. Expand answers ok false to decline; the next command of that name is asked
// then. At most 256 KiB. Calls may overlap.
type Prompt interface {
	Name() string
	Aliases() []string
	Description() string
	Expand(ctx context.Context, i Invocation) (text string, ok bool, err error)
}

// MaxText is the largest expansion in bytes.
const MaxText = 256 << 10

// Spec is the metadata of a command made of a function.
type Spec struct {
	Name        string
	Aliases     []string
	Description string
}

// PromptFunc makes a prompt command of a function.
func PromptFunc(s Spec, expand func(ctx context.Context, i Invocation) (string, bool, error)) Prompt {
	return promptFunc{s, expand}
}

type promptFunc struct {
	spec   Spec
	expand func(context.Context, Invocation) (string, bool, error)
}

func (p promptFunc) Name() string        { return p.spec.Name }
func (p promptFunc) Aliases() []string   { return p.spec.Aliases }
func (p promptFunc) Description() string { return p.spec.Description }
func (p promptFunc) Expand(ctx context.Context, i Invocation) (string, bool, error) {
	return p.expand(ctx, i)
}

// Prompts is the point command.prompt.
var Prompts = contrib.Define(contrib.Spec[Prompt]{
	Name: "command.prompt", Doc: "Adds a slash command that expands to the text of a turn.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Describe: func(p Prompt) (any, error) { return describe(p) },
	Guard:    guardPrompt,
})
