package kerneltest

import (
	"context"
	"slices"
	"sync"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/kernel/approval"
)

// Operator is a scripted operator. It gives its answers in order, whatever is asked; when they are used up nobody is there.
type Operator struct {
	mu      sync.Mutex
	answers []approval.Choice
	asked   []approval.Prompt
}

var _ approval.Operator = (*Operator)(nil)

// Answers puts an operator into the kernel who gives these answers. A kernel without one has nobody to ask.
func Answers(choices ...approval.Choice) fx.Option {
	o := &Operator{answers: slices.Clone(choices)}
	return fx.Supply(fx.Annotate(o, fx.As(new(approval.Operator)), fx.As(fx.Self())))
}

// Ask implements approval.Operator.
func (o *Operator) Ask(ctx context.Context, p approval.Prompt) (approval.Answer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, p)
	if err := ctx.Err(); err != nil {
		return approval.Answer{}, err
	}
	if len(o.answers) == 0 {
		return approval.Answer{}, approval.ErrNoOperator
	}
	next := o.answers[0]
	o.answers = o.answers[1:]
	return approval.Answer{Choice: next}, nil
}

// Asked returns the prompts so far.
func (o *Operator) Asked() []approval.Prompt {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}
