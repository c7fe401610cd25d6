package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/command"
)

// Errors of slash commands.
var (
	// ErrUnknownCommand is returned for a slash command that nobody answers. Its text lists near names.
	ErrUnknownCommand = errors.New("kernel: unknown command")
	// ErrActionCommand is returned by Expand for a command that acts: it has no text.
	ErrActionCommand = errors.New("kernel: the command acts and stands for no text")
	// ErrVerb is returned for a verb of a client: the kernel does not carry it out.
	ErrVerb = errors.New("kernel: the command belongs to the client")
)

// CommandKind says what a slash command does.
type CommandKind string

// The kinds of slash commands.
const (
	VerbCommand   CommandKind = "verb"   // the client carries it out
	FileCommand   CommandKind = "file"   // a command of the host that stands for the text of a turn
	PromptCommand CommandKind = "prompt" // contributed; it stands for the text of a turn
	ActionCommand CommandKind = "action" // contributed; it acts
)

// Command is one slash command as a listing shows it.
type Command struct {
	Name        string      `json:"name,omitempty"`      // the short name; blank when another command keeps it
	Aliases     []string    `json:"aliases,omitempty"`   // those that are free
	Qualified   string      `json:"qualified,omitempty"` // <owner>:<name>, which always reaches it; blank for a verb
	Description string      `json:"description,omitempty"`
	Kind        CommandKind `json:"kind"`
	Owner       string      `json:"owner"`            // builtin, workspace, user, module:<name> or plugin:<id>@<generation>
	KeptBy      string      `json:"keptBy,omitempty"` // owner of the command that keeps the short name
}

// Reached is the name that reaches the command, without the slash: the short one, or the qualified one of a command whose
// short name another one keeps.
func (c *Command) Reached() string { return or(c.Name, c.Qualified) }

// Commands lists the slash commands of a thread, or of the workspace when t is nil: the verbs of the clients first, then
// all others, sorted by name.
//
// A short name belongs to a verb, else to the first command of the host that has it, else to the first contributed one by
// order and registration. A command without its short name is listed with the name that reaches it.
func (k *Kernel) Commands(t *Thread) []Command {
	return k.commands(k.registry.View(), threadID(t)).listing()
}

func (k *Kernel) commands(v *contrib.View, thread contrib.ThreadID) *commands {
	return newCommands(v, thread, k.config.Commands)
}

func threadID(t *Thread) contrib.ThreadID {
	if t == nil {
		return ""
	}
	return contrib.ThreadID(t.id)
}

// Expand turns a slash command into the text that it stands for. ok is false for text that is no command: it does not
// begin with a slash, or its first word is no command name. t may be nil. For the rest, see [Kernel.Invoke].
func (k *Kernel) Expand(ctx context.Context, t *Thread, text string) (expanded string, ok bool, err error) {
	i, ok := invocation(t, text)
	if !ok {
		return "", false, nil
	}
	expanded, err = k.Invoke(ctx, i)
	return expanded, true, err
}

// Invoke turns the slash command that an invocation names into the text that it stands for. The exact name counts, in lower
// case; a qualified name goes before a short one. Contributions that have the name are asked in order: a prompt command
// that declines or fails leaves the answer to the next, and an action command ends the search with ErrActionCommand. A verb
// is ErrVerb, and a name that nobody answers is ErrUnknownCommand. What comes out is not looked at for commands again. A
// blank mode is work.
func (k *Kernel) Invoke(ctx context.Context, i command.Invocation) (string, error) {
	expanded, action, err := k.find(ctx, i)
	if err == nil && action != nil {
		err = fmt.Errorf("%w: /%s", ErrActionCommand, i.Name)
	}
	return expanded, err
}

// invocation reads a typed command.
func invocation(t *Thread, text string) (command.Invocation, bool) {
	name, rest, ok := commandLine(text)
	i := command.Invocation{Name: name, Arguments: rest}
	if ok && t != nil {
		i.Thread, i.Mode = t.id, t.info().Mode
	}
	return i, ok
}

// find returns the text of the command that an invocation names, or the action command.
func (k *Kernel) find(ctx context.Context, i command.Invocation) (string, *contributed, error) {
	i.Mode = or(i.Mode, ModeWork)
	all := k.commands(k.registry.View(), contrib.ThreadID(i.Thread))
	for _, c := range all.answering(i.Name) {
		switch {
		case c.host != nil && c.host.verb():
			return "", nil, fmt.Errorf("%w: /%s", ErrVerb, i.Name)
		case c.host != nil:
			text, err := c.host.Expand(ctx, i)
			if err != nil {
				err = fmt.Errorf("kernel: expand the command /%s: %w", i.Name, err)
			}
			return text, nil, err
		case c.contributed.action != nil:
			return "", c.contributed, nil
		}
		if out, found, err := k.expand(ctx, c.contributed, i); err != nil || found {
			return out, nil, err
		}
	}
	return "", nil, fmt.Errorf("%w /%s%s", ErrUnknownCommand, i.Name, all.near(i.Name))
}

// expand asks one contributed prompt command.
func (k *Kernel) expand(ctx context.Context, c *contributed, i command.Invocation) (string, bool, error) {
	one := []contrib.Entry[command.Prompt]{*c.prompt}
	return contrib.First(ctx, one, func(ctx context.Context, p command.Prompt) (string, bool, error) {
		text, ok, err := p.Expand(ctx, i)
		if err == nil && len(text) > command.MaxText {
			err = &contrib.CallError{
				Cause: contrib.CauseRefused, Point: c.entry.Point, Origin: c.entry.Origin, Label: c.entry.Label,
				Rule: fmt.Sprintf("the expansion has %d bytes, at most %d are allowed", len(text), command.MaxText),
			}
		}
		return text, ok && strings.TrimSpace(text) != "", err
	}, k.report)
}

// commandLine splits a typed command at its first white space.
func commandLine(text string) (name, rest string, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	name = text
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		name, rest = text[:i], strings.TrimSpace(text[i:])
	}
	name = strings.ToLower(name)
	if name == "" || name[0] < 'a' || name[0] > 'z' || strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && r != ':' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		return "", "", false
	}
	return name, rest, true
}
