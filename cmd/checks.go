package crystalcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/kernel/threadlog"
)

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
	j.options.reviewedBy(&j.config.ApprovalModel)
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
