package command

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Output takes the notes of an action command. It refuses use after Execute has returned.
type Output interface {
	Write(text string) error
	Fail(text string) error
}

// Action is a command that acts and writes notes of the session. It never declines and cannot send input to the model.
// Metadata as for [Prompt]. Calls may overlap.
type Action interface {
	Name() string
	Aliases() []string
	Description() string
	Execute(ctx context.Context, argument string, out Output) error
}

// MaxNotes is how many notes one action may write.
const MaxNotes = 100

// ActionFunc makes an action command of a function.
func ActionFunc(s Spec, execute func(ctx context.Context, argument string, out Output) error) Action {
	return actionFunc{s, execute}
}

type actionFunc struct {
	spec    Spec
	execute func(context.Context, string, Output) error
}

func (a actionFunc) Name() string        { return a.spec.Name }
func (a actionFunc) Aliases() []string   { return a.spec.Aliases }
func (a actionFunc) Description() string { return a.spec.Description }
func (a actionFunc) Execute(ctx context.Context, argument string, out Output) error {
	return a.execute(ctx, argument, out)
}

// Actions is the point command.action.
var Actions = contrib.Define(contrib.Spec[Action]{
	Name: "command.action", Doc: "Adds a slash command that acts and writes notes.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Fail, Deadline: 60 * time.Second,
	Describe: func(a Action) (any, error) { return describe(a) },
	Guard:    guardAction,
})
