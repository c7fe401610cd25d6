package crystalcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/kernel"
)

// expand turns the slash command of a task into the text that it stands for: a markdown command of the workspace, then
// of home, then a contributed one. The expansion is not looked at for commands again.
func (p *program) expand(ctx context.Context, j *job, h *host) (string, error) {
	name := j.task.command
	if !p.safe() {
		files, notes := home.Commands(j.place.home, j.place.tree)
		j.notes = append(j.notes, notes...)
		if c, ok := home.FindCommand(files, name); ok {
			return c.Expand(j.task.rest, h.binder(ctx, j.place.workspace.Path, j.config.Mode)), nil
		}
	}
	text, _, err := h.kernel.Expand(ctx, nil, "/"+name+" "+j.task.rest)
	if !errors.Is(err, kernel.ErrUnknownCommand) {
		return text, err
	}
	var names []string
	for _, c := range h.kernel.Commands(nil) {
		if c.Action && strings.EqualFold(c.Name, name) {
			return "", fmt.Errorf("/%s acts on a session; a headless run has no operator", name)
		}
		names = append(names, c.Name)
	}
	return "", fmt.Errorf("unknown command /%s; %s; text that begins with a slash is given over stdin", name, meantOrNone(name, names))
}
