package prompt

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Assembler takes over the assembled system prompt (tier C): only the last entry of the resolved list is called. nil, an
// error or a panic keeps the default assembly. Calls may overlap.
type Assembler interface {
	Assemble(ctx context.Context, assembled string, c Context) (*string, error)
}

// AssemblerFunc makes a Assembler of a function.
func AssemblerFunc(f func(ctx context.Context, assembled string, c Context) (*string, error)) Assembler {
	return assemblerFunc(f)
}

type assemblerFunc func(ctx context.Context, assembled string, c Context) (*string, error)

func (f assemblerFunc) Assemble(ctx context.Context, assembled string, c Context) (*string, error) {
	return f(ctx, assembled, c)
}

// Assemblers is the point prompt.assembler.
var Assemblers = contrib.Define(contrib.Spec[Assembler]{
	Name: "prompt.assembler", Doc: "Takes over the assembled system prompt.",
	Tiers: contrib.TierC, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerPrompt, Failure: contrib.Keep, Deadline: 10 * time.Second,
	Guard: guardAssembler,
})
