package kernel

import (
	"context"
	"fmt"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/command"
)

// Executed is what became of a slash command.
type Executed struct {
	Text   string // of a prompt command: what it stands for
	Action bool   // an action command ran
}

// Execute does what a slash command says: a command that stands for text is expanded, as [Kernel.Expand] does it, and an action command
// runs. Its notes go to note, one after another, at most command.MaxNotes; when it fails, one more says so with a fixed
// text, and err stays nil. ok is false for text that is no command. t may be nil.
func (k *Kernel) Execute(ctx context.Context, t *Thread, text string, note func(Noted)) (done Executed, ok bool, err error) {
	i, ok := invocation(t, text)
	if !ok {
		return Executed{}, false, nil
	}
	expanded, action, err := k.find(ctx, i)
	if err != nil || action == nil {
		return Executed{Text: expanded}, true, err
	}
	k.act(ctx, action, i.Arguments, note)
	return Executed{Action: true}, true, ctx.Err()
}

// act runs an action command.
func (k *Kernel) act(ctx context.Context, c *contributed, argument string, note func(Noted)) {
	out := &output{note: note, from: Noted{Point: c.entry.Point, Label: "/" + c.meta.Name}}
	if c.entry.Origin.Kind() == "plugin" {
		out.from.Plugin = c.entry.Origin.ID()
	}
	ran := false
	_ = contrib.FanOut(ctx, []contrib.Entry[command.Action]{*c.action}, func(ctx context.Context, a command.Action) error {
		err := a.Execute(ctx, argument, out)
		ran = err == nil
		return err
	}, k.report)
	out.end(!ran && ctx.Err() == nil)
}

// ErrOutputFull is returned by an Output that has taken all the notes that one action may write.
var ErrOutputFull = fmt.Errorf("kernel: an action writes at most %d notes", command.MaxNotes)

// output takes the notes of one action. Any goroutine.
type output struct {
	mu      sync.Mutex
	note    func(Noted)
	from    Noted // what is the same in all
	written int
	ended   bool
}

var _ command.Output = (*output)(nil)

// Write makes a note.
func (o *output) Write(text string) error { return o.add(contrib.Info, text) }

// Fail makes a note about a failure.
func (o *output) Fail(text string) error { return o.add(contrib.Error, text) }

func (o *output) add(s contrib.Severity, text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.ended:
		return command.ErrOutputClosed
	case o.written == command.MaxNotes:
		return ErrOutputFull
	}
	o.written++
	o.emit(s, text)
	return nil
}

func (o *output) emit(s contrib.Severity, text string) {
	if o.note != nil {
		n := o.from
		n.Severity, n.Message = s, text
		o.note(n)
	}
}

// end closes the output. A failure is told with a fixed text: that of a plugin is in the log file.
func (o *output) end(failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if failed {
		o.emit(contrib.Error, actionFailed)
	}
}

const actionFailed = "Plugin operation failed."
