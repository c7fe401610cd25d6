package crystalcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/cmd/internal/headless"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
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
	if slices.Contains(operatorCommands, strings.ToLower(j.task.command)) {
		return fmt.Errorf("/%s is a command for an operator; a headless run has none", j.task.command)
	}
	for _, step := range []func(context.Context, *job) error{p.locate, p.configure, p.trust, p.choose} {
		if err := step(ctx, j); err != nil {
			return err
		}
	}
	return p.perform(ctx, j)
}

// locate is step 3: home, the thread to go on with, and the workspace, which is that thread's own.
func (p *program) locate(ctx context.Context, j *job) error {
	h, err := home.Find(p.options.home, p.env)
	if err != nil {
		return err
	}
	asked := p.options.workspace
	if asked == "" {
		asked = "."
	}
	ws, err := home.OpenWorkspace(h, asked)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	store := threadlog.Disk(string(h))
	switch {
	case j.options.resume != "":
		e, err := threadlog.Find(ctx, store, j.options.resume)
		if err != nil {
			return fmt.Errorf("resuming: %w", err)
		}
		if e.Archived {
			return fmt.Errorf("resuming: thread %s is archived; take it back with crystal threads unarchive %s", e.ID, e.ID)
		}
		if p.options.workspace != "" && ws.Path != e.Workspace {
			return fmt.Errorf("resuming: thread %s belongs to %s, not to %s; leave -C out", e.ID, e.Workspace, ws.Path)
		}
		if e.Workspace != "" && e.Workspace != ws.Path {
			if ws, err = home.OpenWorkspace(h, e.Workspace); err != nil {
				return fmt.Errorf("resuming: opening the workspace of thread %s: %w", e.ID, err)
			}
		}
		j.resumed = &e
	case j.options.cont:
		entries, _, err := store.List(ctx, threadlog.Filter{Workspace: ws.Path, Limit: 1})
		if err != nil {
			return fmt.Errorf("continuing: %w", err)
		}
		if len(entries) == 0 {
			return fmt.Errorf("continuing: there is no thread to continue in %s", ws.Path)
		}
		j.resumed = &entries[0]
	}
	if p.safe() {
		ws.Tree, ws.Notes = "", nil
	}
	j.place = &place{home: h, workspace: ws}
	j.notes = append(j.notes, ws.Notes...)
	return nil
}

// configure is steps 4 and 5: home's settings, and overrides that must fit them.
func (p *program) configure(_ context.Context, j *job) error {
	if err := p.load(j.place); err != nil {
		return err
	}
	if err := j.checkReviewer(); err != nil {
		return err
	}
	if name := j.options.promptSet; name != "" {
		file := j.place.home.Path("prompt-sets", name, "prompt.json")
		if info, err := os.Stat(file); filepath.Base(name) != name || err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("unknown prompt set %q: there is no %s", name, file)
		}
	}
	if g := j.settings.thinking; g != "" && !j.place.settings.KnownGear(g) {
		return fmt.Errorf("unknown gear %q for --thinking; use %s, or a token budget such as 8192", g, list(home.Gears))
	}
	return nil
}

// checkReviewer checks what was said about the model that reviews calls.
func (j *job) checkReviewer() error {
	o, s := j.options, j.place.settings
	asked := o.reviewProvider != "" || o.reviewModel != ""
	on := asked || j.settings.review != nil && *j.settings.review
	if !on {
		return nil
	}
	name := o.reviewModel
	if name == "" {
		name = s.Config.ApprovalModel.Model
	}
	if name == "" {
		return fmt.Errorf("review by a model needs a model: give --approval-model-id, or set approvalModel.model")
	}
	provider := o.reviewProvider
	if provider == "" {
		provider = s.Config.ApprovalModel.Provider
	}
	if provider == "" {
		provider = s.Config.Provider
	}
	p, ok := s.Providers[provider]
	if !ok {
		return fmt.Errorf("unknown provider %q for the reviewer; known are %s", provider, list(s.ProviderNames()))
	}
	if _, ok := p.Models[name]; !ok {
		return fmt.Errorf("provider %q lists no model %q for the reviewer; listed are %s", provider, name, list(p.ModelNames()))
	}
	return nil
}

// trust is step 6. Nobody can be asked, so an untrusted project tree ends the run unless it was decided about.
func (p *program) trust(_ context.Context, j *job) error {
	given := j.settings.trust
	if given != nil && !*given {
		j.place.workspace.Tree = ""
	}
	waiting, err := p.trusted(j.place, given != nil && *given)
	if err != nil {
		return err
	}
	if len(waiting) > 0 {
		return &exitError{code: ExitDenied, err: fmt.Errorf(
			"%s: the workspace %s is not trusted, and these wait for trust: %s; look at them, then use --workspace-trust on, or off to go on without them",
			home.WorkspaceUntrusted, j.place.workspace.Path, list(waiting))}
	}
	return nil
}

// choose is step 7: the effective configuration, the model and its key.
func (p *program) choose(ctx context.Context, j *job) error {
	s := j.place.settings
	j.notes = append(j.notes, s.Notes...)
	j.config = j.settings.over(s.Config)
	if j.resumed != nil {
		picture, _, err := threadlog.Disk(string(j.place.home)).Read(ctx, j.resumed.ID)
		if err != nil {
			return err
		}
		state := picture.State()
		j.before = home.Wanted{Provider: state.Provider, Model: state.Model}
	}
	var err error
	if j.choice, err = s.Choose(j.settings.wanted, j.before); err != nil {
		return err
	}
	if _, err = s.Key(j.choice.Provider); err != nil {
		return err
	}
	j.gear()
	return nil
}

// over lays the options of the command line over the configuration.
func (s runSettings) over(c home.Config) home.Config {
	put(&c.Plugins, s.discovery)
	put(&c.PromptAttachments, s.attachments)
	put(&c.Skills, s.skills)
	put(&c.ExternalTools, s.tools)
	put(&c.Limits.ModelCalls, s.modelCalls)
	put(&c.Limits.ToolCalls, s.toolCalls)
	put(&c.Limits.TurnDuration, s.duration)
	put(&c.Limits.BashTimeout, s.bashTimeout)
	put(&c.ApprovalModel.Enabled, s.review)
	if s.approval != "" {
		c.Approval = s.approval
	}
	if s.mode != "" {
		c.Mode = s.mode
	}
	if s.thinking != "" {
		c.Thinking = s.thinking
	}
	return c
}

func put[T any](dst *T, value *T) {
	if value != nil {
		*dst = *value
	}
}

// gear drops a gear that the model does not have, with a note.
func (j *job) gear() {
	have := j.choice.Entry.Thinking
	g := j.config.Thinking
	if g == "default" || len(have) == 0 || slices.Contains(have, g) {
		return
	}
	j.notes = append(j.notes, home.Note{
		Severity: home.Warning, Text: fmt.Sprintf("the model %s/%s has no gear %q; its default is used", j.choice.Provider.Name, j.choice.Model, g),
	}.Cleaned())
	j.config.Thinking = "default"
}

// perform is steps 8 to 10: the host, the thread, the turn.
func (p *program) perform(ctx context.Context, j *job) (err error) {
	if err := p.checkPlugins(j); err != nil {
		return err
	}
	running, err := p.start(ctx, blueprint{
		place: j.place, config: j.config, switches: j.settings.switches, client: clientRun, models: j.models(),
	})
	if err != nil {
		return err
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
	turn, end := p.stop.turn(ctx)
	defer end()
	out := p.printer(j, end)
	out.Begin(j.begin(ctx, running, th))
	result, err := th.Run(turn, kernel.Input{Text: j.task.text, Mode: j.settings.mode, Gear: gearOf(j.config.Thinking)}, out.Event)
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
	text, err := p.expand(ctx, j, h)
	if err != nil {
		return err
	}
	j.task.text = j.task.expanded(text)
	return nil
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
		Model: j.choice.Provider.Name + "/" + j.choice.Model,
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

// binder binds the placeholders in the body of a markdown command.
func (h *host) binder(ctx context.Context, workspace, mode string) func(string) string {
	return func(text string) string {
		bound, err := composer.Bind(ctx, h.registry.View(), composer.Inputs{
			Context: prompt.Context{Mode: mode, Workspace: workspace, Client: clientRun},
			Binding: prompt.Binding{Mode: mode, Workspace: workspace},
		}, text)
		if err != nil {
			return text
		}
		return bound
	}
}
