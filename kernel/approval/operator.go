package approval

import (
	"context"
	"errors"

	"github.com/crystalkernel/crystal/points/dispatch"
)

// ErrNoOperator is returned by an Operator that finds nobody to ask: the call is denied as if there were no operator.
var ErrNoOperator = errors.New("approval: nobody to ask")

// Operator asks a person about one call.
//
// Ask blocks until there is an answer or ctx is done. Calls for different threads may overlap; for one thread there is one
// at a time, in call order. An error other than that of ctx and [ErrNoOperator] is a failure of the stage: the call is
// denied as undecided, not as declined.
type Operator interface {
	Ask(ctx context.Context, p Prompt) (Answer, error)
}

// OperatorFunc adapts a function to Operator.
type OperatorFunc func(ctx context.Context, p Prompt) (Answer, error)

// Ask calls f.
func (f OperatorFunc) Ask(ctx context.Context, p Prompt) (Answer, error) { return f(ctx, p) }

// Prompt is what the operator is asked. Its texts are safe to print: escapes, control characters and invisible
// characters are shown escaped. Call holds the same as it came.
type Prompt struct {
	Call      dispatch.Call
	Tool      string     // canonical name
	Owner     string     // who brought the tool, for example "plugin acme.web"
	Arguments []Argument // in the order of the call
	Class     string     // for example "Write, Workspace"
	Summary   string     // of the classification
	Reason    string     // why it asks
	Rationale string     // of the reviewer; blank: no review
	Storable  bool       // false: session and always are not offered
	Covers    string     // what session or always would cover; blank when not Storable
}

// Argument is one argument of a call, as printable text in full.
type Argument struct{ Name, Text string }

// Answer is what the operator decided. The zero value is a no.
type Answer struct {
	Choice  Choice
	Message string // for the model, with a no
}

// Choice is one of the answers to a prompt.
type Choice uint8

// The choices.
const (
	No      Choice = iota // don't run this call
	Once                  // run this call
	Session               // run this call and those like it until the session ends
	Always                // the same, for good
)
