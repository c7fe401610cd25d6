package composer

import "github.com/crystalkernel/crystal/contrib"

// StepKind says what a step of composing does.
type StepKind string

// The kinds of steps, in the order in which they come.
const (
	SectionStep     StepKind = "section"      // one entry of prompt.section
	AssemblerStep   StepKind = "assembler"    // the last entry of prompt.assembler
	PlaceholderStep StepKind = "placeholders" // all placeholders of the text
	HookStep        StepKind = "hook"         // one entry of hook.prompt or rawhook.rewrite_prompt
)

// Step is one step of composing that was taken. An entry that failed takes none.
type Step struct {
	Kind  StepKind
	Entry *contrib.EntryInfo // shared, must not be changed; nil for placeholders
	Name  string             // of a section
	Text  string             // of a section its own, blank when it is left out; else the whole text after the step
}

func trace(to func(Step), kind StepKind, e *contrib.EntryInfo, text string) {
	if to != nil {
		to(Step{Kind: kind, Entry: e, Text: text})
	}
}
