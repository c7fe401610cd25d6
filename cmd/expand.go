package crystalcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/points/command"
)

// expand turns the slash command of a task into the text that it stands for: a markdown command of the workspace, then
// of home, then a contributed one. The expansion is not looked at for commands again.
func (p *program) expand(ctx context.Context, j *job, h *host) (string, error) {
	name := j.task.command
	mode := j.config.Mode
	if !p.safe() {
		files, notes := home.Commands(j.place.home, j.place.tree)
		j.notes = append(j.notes, notes...)
		if c, ok := home.FindCommand(files, name); ok {
			return c.Expand(j.task.rest, h.binder(ctx, j.place.workspace.Path, mode)), nil
		}
	}
	i := command.Invocation{Name: strings.ToLower(name), Arguments: j.task.rest, Mode: mode}
	entries := command.Prompts.Entries(h.registry.View(), "")
	for n := range entries {
		e := &entries[n]
		if !answers(e, i.Name) {
			continue
		}
		text, ok, err := e.Value.Expand(ctx, i)
		if err != nil {
			j.notes = append(j.notes, home.Note{
				Code: home.Code(contrib.CodeCallFailed), Severity: home.Warning, Plugin: e.Origin.ID(), Point: command.Prompts.Name(),
				Text: "a contributed command failed and was passed over",
			}.Cleaned())
			continue
		}
		if ok && strings.TrimSpace(text) != "" && len(text) <= command.MaxText {
			return text, nil
		}
	}
	for _, e := range command.Actions.Entries(h.registry.View(), "") {
		if strings.EqualFold(strings.TrimPrefix(e.Value.Name(), "/"), name) {
			return "", fmt.Errorf("/%s acts on a session; a headless run has no operator", name)
		}
	}
	return "", fmt.Errorf("unknown command /%s; text that begins with a slash is given over stdin", name)
}

// answers reports whether a contributed command is meant: by its name, an alias, or its name behind the plugin's id.
func answers(e *contrib.Entry[command.Prompt], name string) bool {
	is := func(n string) bool {
		n = strings.ToLower(strings.TrimPrefix(n, "/"))
		return n == name || e.Origin.ID() != "" && e.Origin.ID()+":"+n == name
	}
	if is(e.Value.Name()) {
		return true
	}
	for _, a := range e.Value.Aliases() {
		if is(a) {
			return true
		}
	}
	return false
}
