package kernel

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/prompt"
)

// ExplainedCommand is one slash command and what its line in the prompt costs.
type ExplainedCommand struct {
	Command
	Order  int    `json:"order"`            // of a contributed one
	Thread string `json:"thread,omitempty"` // blank: workspace scope
	Bytes  int    `json:"bytes"`            // of its line in each request
	Tokens int    `json:"tokens"`           // estimated
}

// ExplainCommands lists the slash commands of a thread as [Kernel.Commands] does, with those that lost their short name and
// what each costs. Arguments, effects and errors as for [Kernel.ExplainPrompt].
func (k *Kernel) ExplainCommands(ctx context.Context, thread string, o Options) ([]ExplainedCommand, error) {
	ctx, x, done, err := k.rehearse(ctx, thread, o)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := x.compose(ctx)
	if err != nil {
		return nil, err
	}
	told := false // the model is told of the commands
	for _, p := range x.parts(text) {
		told = told || p.Target == prompt.CustomCommands && p.Owner == contrib.Builtin().String() && p.Lost == ""
	}
	all := k.commands(x.view(), x.thread())
	out := make([]ExplainedCommand, 0, len(all.all))
	for _, e := range all.sorted() {
		c := ExplainedCommand{Command: e.Command}
		if e.contributed != nil {
			c.Order, c.Thread = e.contributed.entry.Order, string(e.contributed.entry.Thread)
		}
		if told {
			line := pageLine(&e.Command)
			c.Bytes, c.Tokens = len(line), estimate.Text(line)
		}
		out = append(out, c)
	}
	return out, nil
}
