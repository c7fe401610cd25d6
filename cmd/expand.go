package crystalcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/command"
	"github.com/crystalkernel/crystal/points/prompt"
)

// hostCommands are the commands of the host itself in order of precedence: the verbs of clients, then the markdown commands
// of the workspace and of home.
func (p *program) hostCommands(b blueprint, h *host) []kernel.HostCommand {
	list := slices.Clone(verbs)
	if p.safe() {
		return list
	}
	files, notes := home.Commands(b.place.home, b.place.tree)
	h.notes = append(h.notes, notes...)
	for _, c := range files {
		list = append(list, kernel.HostCommand{
			Name: c.Name, Aliases: c.Aliases, Description: c.Description, Owner: c.Owner,
			Expand: func(ctx context.Context, i command.Invocation) (string, error) {
				return c.Expand(i.Arguments, p.binder(ctx, b, h, i)), nil
			},
		})
	}
	return list
}

// binder binds the placeholders in the body of a markdown command.
func (p *program) binder(ctx context.Context, b blueprint, h *host, i command.Invocation) func(string) string {
	in := prompt.Binding{Mode: i.Mode, Workspace: b.place.workspace.Path, Session: i.Thread, Approval: b.config.Approval}
	// A model that can't be chosen leaves its names blank.
	if r, err := b.resolver().Resolve(ctx, ""); err == nil {
		in.Provider, in.Model = r.Provider, r.Model
	}
	return func(text string) string {
		bound, err := h.kernel.Bind(ctx, in, text)
		if err != nil {
			return text
		}
		return bound
	}
}

// expand turns the slash command of a task into the text that it stands for.
func (h *host) expand(ctx context.Context, j *job) (string, error) {
	mode := j.config.Mode
	if j.resumed != nil && j.settings.mode == "" {
		mode = j.resumed.Mode
	}
	text, err := h.kernel.Invoke(ctx, command.Invocation{Name: strings.ToLower(j.task.command), Arguments: j.task.rest, Mode: mode})
	switch {
	case errors.Is(err, kernel.ErrActionCommand), errors.Is(err, kernel.ErrVerb):
		return "", errOperator(j.task.command)
	case errors.Is(err, kernel.ErrUnknownCommand):
		return "", fmt.Errorf("%w; text that begins with a slash is given over stdin", err)
	}
	return text, err
}

// commandNotes are the notes about commands without their short name.
func (h *host) commandNotes() []home.Note {
	var notes []home.Note
	for _, n := range h.kernel.TakenCommands() {
		notes = append(notes, home.Note{
			Code: home.Code(n.Code), Severity: home.Severity(n.Severity), Plugin: n.Plugin, Point: n.Point, Label: n.Label, Text: n.Message,
		}.Cleaned())
	}
	return notes
}
