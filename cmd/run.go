package crystalcmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/cmd/internal/headless"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// job is one headless run on its way through the checks.
type job struct {
	options  *runOptions
	settings runSettings
	task     task
	place    *place
	config   home.Config
	resumed  *threadlog.Entry // the thread to go on with; nil for a new one
	before   home.Wanted      // what that thread used last
	choice   home.Choice
	notes    []home.Note
}

// runTask runs one turn without an operator. Everything up to the turn is checked first, in a fixed order; the first
// failure ends the command, with nothing written and nothing on stdout.
func (p *program) runTask(c *cobra.Command, args []string, o *runOptions) error {
	ctx := c.Context()
	j := &job{options: o}
	var err error
	if j.settings, err = o.check(c.Flags(), p.safe()); err != nil {
		return err
	}
	if j.task, err = p.readTask(args, o.noStdin); err != nil {
		return err
	}
	if isVerb(j.task.command) {
		return errOperator(j.task.command)
	}
	for _, step := range []func(context.Context, *job) error{p.locate, p.configure, p.trust, p.choose} {
		if err := step(ctx, j); err != nil {
			return err
		}
	}
	return p.perform(ctx, j)
}

// perform is steps 8 to 10: the host, the thread, the turn.
func (p *program) perform(ctx context.Context, j *job) (err error) {
	if err := p.checkPlugins(j); err != nil {
		return err
	}
	events, err := j.options.openTrace()
	if err != nil {
		return err
	}
	running, err := p.start(ctx, blueprint{
		place: j.place, config: j.config, switches: j.settings.switches, client: clientRun, models: j.models(), trace: events,
	})
	if err != nil {
		return errors.Join(err, events.Close())
	}
	defer running.release()
	stopped := false
	defer func() {
		if !stopped {
			err = errors.Join(err, running.stop(ctx))
		}
	}()
	if err := p.loaded(ctx, j, running); err != nil {
		return err
	}
	th, err := j.open(ctx, running.kernel)
	if err != nil {
		return err
	}
	running.todos.thread.Store(th)
	turn, end := p.stop.turn(ctx)
	defer end()
	out := p.printer(j, end)
	out.Begin(j.begin(ctx, running, th))
	result, err := running.turn(turn, th, kernel.Input{Text: j.task.text, Mode: j.settings.mode, Gear: gearOf(j.config.Thinking)}, out)
	closed := th.Close(context.WithoutCancel(ctx))
	stopped = true
	closed = errors.Join(closed, running.stop(ctx))
	if err != nil {
		if errors.Is(err, context.Canceled) {
			result.Stop = kernel.Interrupted
		} else {
			result.Stop = kernel.Failed
			out.Event(kernel.Failure{Message: err.Error()})
		}
	}
	if n, ok := j.refusedKey(result.Err); ok {
		out.Event(n)
	}
	if closed != nil {
		out.Event(kernel.Noted{Severity: contrib.Warning, Message: "the host did not stop cleanly; the log file says why"})
	}
	done := outcome(result)
	done.Hint = "To go on: crystal run --resume " + th.ID()
	out.End(done)
	if done.Exit == ExitOK {
		return nil
	}
	return &exitError{code: done.Exit}
}

// errPanic is how a panic of the host itself is reported; its text and stack are in the log.
var errPanic = errors.New("the host failed; the log file says why")

// turn runs the turn. A panic of the host ends it as failed.
func (h *host) turn(ctx context.Context, th *kernel.Thread, in kernel.Input, out headless.Printer) (result kernel.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			h.log.Error("panic", "value", r, "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return th.Run(ctx, in, out.Event)
}

// refusedKey is the note about a key that the provider refused: where it came from, never what it is.
func (j *job) refusedKey(err error) (kernel.Noted, bool) {
	var failure *model.Error
	if !errors.As(err, &failure) || failure.Kind != model.KindAuth {
		return kernel.Noted{}, false
	}
	key, err := j.place.settings.Key(j.choice.Provider)
	if err != nil || !key.Known() {
		return kernel.Noted{}, false
	}
	return kernel.Noted{
		Severity: contrib.Info, Message: fmt.Sprintf("the provider %s refused the key from %s", j.choice.Provider.Name, key.Source()),
	}, true
}

// models resolves the model of the run to the one that was chosen.
func (j *job) models() kernel.Models {
	chosen := j.choice.Provider.Name + "/" + j.choice.Model
	return kernel.ModelsFunc(func(_ context.Context, ref string) (model.ClientRequest, error) {
		if ref == "" || ref == chosen {
			return clientRequest(j.place, j.choice)
		}
		c, err := j.place.settings.Choose(home.Wanted{Model: ref}, home.Wanted{})
		if err != nil {
			return model.ClientRequest{}, err
		}
		return clientRequest(j.place, c)
	})
}

// loaded is step 8: what was named on the command line must be there now.
func (p *program) loaded(ctx context.Context, j *job, h *host) error {
	if err := h.protocol(ctx, j); err != nil {
		return err
	}
	if j.task.command == "" {
		return nil
	}
	text, err := h.expand(ctx, j)
	if err != nil {
		return err
	}
	j.task.text = j.task.expanded(text)
	return j.task.check()
}

// checkPlugins tells an id of the command line that the host does not have.
func (p *program) checkPlugins(j *job) error {
	for _, id := range append(slices.Clone(j.options.plugins), j.options.noPlugins...) {
		if !p.known().Compiled(strings.ToLower(id)) {
			var ids []string
			for _, one := range p.list {
				ids = append(ids, one.ID)
			}
			return fmt.Errorf("this host has no plugin %q; %s", id, meantOrNone(id, ids))
		}
	}
	return nil
}

func meantOrNone(word string, known []string) string {
	if len(known) == 0 {
		return "there are none"
	}
	return meant(word, known)
}

// protocol checks that somebody speaks the protocol of the model, and, for a built-in one, that a client can be made: a
// scenario file is read then.
func (h *host) protocol(ctx context.Context, j *job) error {
	p := j.choice.Provider
	if !slices.Contains(model.BuiltinProtocols, p.Protocol) {
		for _, f := range model.Protocols.In(h.registry.View(), "") {
			if f.CanCreate(p.Protocol) {
				return nil
			}
		}
	}
	r, err := clientRequest(j.place, j.choice)
	if err == nil {
		_, err = h.client(ctx, r)
	}
	return err
}

// open is step 9: the thread.
func (j *job) open(ctx context.Context, k *kernel.Kernel) (*kernel.Thread, error) {
	o := kernel.Options{
		Workspace: j.place.workspace.Path, Mode: j.config.Mode, Approval: j.config.Approval,
		Model: j.choice.Provider.Name + "/" + j.choice.Model, Gear: gearOf(j.config.Thinking),
	}
	if j.resumed == nil {
		return k.Create(ctx, o)
	}
	o.Mode = j.settings.mode
	th, err := k.Open(ctx, j.resumed.ID, o)
	if errors.Is(err, threadlog.ErrInUse) {
		return nil, fmt.Errorf("%s: %w", threadlog.ThreadInUse, err)
	}
	if errors.Is(err, threadlog.ErrSchemaNewer) {
		return nil, fmt.Errorf("%s: %w", threadlog.ThreadSchemaNewer, err)
	}
	return th, err
}

// gearOf is the gear as the kernel takes it.
func gearOf(g string) string {
	if g == "default" {
		return ""
	}
	return g
}

// printer makes the printer of a run. A reader that goes away interrupts the turn.
func (p *program) printer(j *job, interrupt func()) headless.Printer {
	out := &goneWriter{w: p.stdout, gone: interrupt}
	if j.settings.json {
		return headless.NewLines(out, j.options.showThinking, p.now)
	}
	stdout := p.stream(p.stdout)
	stdout.W = out
	return headless.NewTranscript(stdout, p.stream(p.stderr), headless.Style{Thinking: j.options.showThinking, Quiet: j.options.quiet})
}

// outcome turns a result into status and exit code. What failed, a limit and an interruption go before a denial.
func outcome(r kernel.Result) headless.End {
	e := headless.End{Status: string(r.Stop), Exit: ExitFailed}
	switch r.Stop {
	case kernel.Completed:
		e.Exit = ExitOK
		if r.Denials > 0 {
			e.Status, e.Exit = "denied", ExitDenied
		}
	case kernel.OutputTruncated, kernel.ModelCallLimitReached, kernel.ToolCallLimitReached, kernel.DurationLimitReached,
		kernel.ContextOverflow, kernel.LoopDetected:
		e.Exit = ExitLimit
	case kernel.Interrupted:
		e.Exit = ExitInterrupted
	}
	return e
}

// clientRun is what the prompt sees as the client of a headless run.
const clientRun = "run"
