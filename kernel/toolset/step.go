package toolset

import "github.com/crystalkernel/crystal/contrib"

// StepKind says what was done with a tool in a planning pass.
type StepKind string

// The kinds of steps. What was left out is told by a diagnostic.
const (
	Claimed StepKind = "claimed" // the tool has its name; the entry is its source
	Edited  StepKind = "edited"  // the entry is a restriction
	Masked  StepKind = "masked"  // the entry is a restriction
)

// Step is one step that a planning pass took. It shares Tool and Entry with the pass: they must not be changed.
type Step struct {
	Kind  StepKind
	Tool  *Tool
	Entry *contrib.EntryInfo
}

func (p *pass) trace(kind StepKind, t *Tool, e *contrib.EntryInfo) {
	if p.in.Trace != nil {
		p.in.Trace(Step{kind, t, e})
	}
}
