package approval

import "github.com/crystalkernel/crystal/points/dispatch"

// Watch sees the prompts of a stage: each Asked is followed by one Answered, also when nobody answered. Both are called on
// the goroutine that asked for the approval, and hold it up.
type Watch interface {
	// Asked is called when the operator is about to be asked.
	Asked(p Prompt)
	// Answered is called when the prompt is over. err is that of a prompt that ended without a decision.
	Answered(p Prompt, v dispatch.Verdict, err error)
}

// Watch sets who sees the prompts. It is called before the stage is used; nil is nobody.
func (s *Stage) Watch(w Watch) { s.watch = w }
