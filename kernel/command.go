package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/command"
)

// Errors of slash commands.
var (
	// ErrUnknownCommand is returned for a slash command that nobody answers.
	ErrUnknownCommand = errors.New("kernel: unknown command")
	// ErrActionCommand is returned by Expand for a command that acts: it has no text.
	ErrActionCommand = errors.New("kernel: the command acts and stands for no text")
)

// Command is one contributed slash command as a listing shows it.
type Command struct {
	Name        string   // the short name; blank when an earlier command keeps it
	Aliases     []string // those that are free
	Qualified   string   // <plugin id>:<name>, which always reaches it; blank for a built-in one
	Description string
	Action      bool // it acts; otherwise it expands to the text of a turn
	Origin      contrib.Origin
}

// contributed is a command of either point: prompt or action is set.
type contributed struct {
	entry  *contrib.EntryInfo
	meta   command.Meta
	prompt *contrib.Entry[command.Prompt]
	action *contrib.Entry[command.Action]
}

// contributions merges both points by order, then registration.
func contributions(v *contrib.View, thread contrib.ThreadID) []contributed {
	var all []contributed
	prompts := command.Prompts.Entries(v, thread)
	for i := range prompts {
		if m, ok := prompts[i].Meta.(command.Meta); ok {
			all = append(all, contributed{entry: &prompts[i].EntryInfo, meta: m, prompt: &prompts[i]})
		}
	}
	actions := command.Actions.Entries(v, thread)
	for i := range actions {
		if m, ok := actions[i].Meta.(command.Meta); ok {
			all = append(all, contributed{entry: &actions[i].EntryInfo, meta: m, action: &actions[i]})
		}
	}
	slices.SortFunc(all, func(a, b contributed) int {
		return cmp.Or(cmp.Compare(a.entry.Order, b.entry.Order), cmp.Compare(a.entry.ID, b.entry.ID))
	})
	return all
}

func (c *contributed) qualified() string {
	if id := c.entry.Origin.ID(); id != "" {
		return id + ":" + c.meta.Name
	}
	return ""
}

// answers reports whether name, in lower case, means this command.
func (c *contributed) answers(name string) bool {
	return name == c.meta.Name || name == c.qualified() || slices.Contains(c.meta.Aliases, name)
}

// Commands lists the contributed commands of a thread, or of the workspace when t is nil, sorted by name. taken are the
// names that belong to the host: its verbs and markdown commands, which a contributed command never hides.
func (k *Kernel) Commands(t *Thread, taken ...string) []Command {
	return listed(k.registry.View(), threadID(t), taken)
}

func listed(v *contrib.View, thread contrib.ThreadID, taken []string) []Command {
	claimed := map[string]bool{}
	for _, n := range taken {
		claimed[strings.ToLower(strings.TrimPrefix(n, "/"))] = true
	}
	var out []Command
	for _, c := range contributions(v, thread) {
		item := Command{Qualified: c.qualified(), Description: c.meta.Description, Action: c.action != nil, Origin: c.entry.Origin}
		if !claimed[c.meta.Name] {
			item.Name, claimed[c.meta.Name] = c.meta.Name, true
		}
		for _, a := range c.meta.Aliases {
			if !claimed[a] {
				item.Aliases, claimed[a] = append(item.Aliases, a), true
			}
		}
		out = append(out, item)
	}
	slices.SortStableFunc(out, func(a, b Command) int { return strings.Compare(a.shown(), b.shown()) })
	return out
}

func (c *Command) shown() string { return or(c.Name, c.Qualified) }

func threadID(t *Thread) contrib.ThreadID {
	if t == nil {
		return ""
	}
	return contrib.ThreadID(t.id)
}

// Expand turns a slash command into the text that it stands for. ok is false for text that is no command: it does not
// begin with a slash, or its first word is no command name. Contributions that have the name are asked in order: a prompt
// command that declines or fails leaves the answer to the next, and an action command ends the search with
// ErrActionCommand. A name that nobody answers is ErrUnknownCommand. t may be nil. What comes out is not looked at for
// commands again.
func (k *Kernel) Expand(ctx context.Context, t *Thread, text string) (expanded string, ok bool, err error) {
	name, rest, ok := commandLine(text)
	if !ok {
		return "", false, nil
	}
	expanded, action, err := k.find(ctx, t, name, rest)
	if err == nil && action != nil {
		err = fmt.Errorf("%w: /%s", ErrActionCommand, name)
	}
	return expanded, true, err
}

// find asks the contributions that have a name, in order. It returns the text of a prompt command, or an action command.
func (k *Kernel) find(ctx context.Context, t *Thread, name, rest string) (string, *contributed, error) {
	i := command.Invocation{Name: name, Arguments: rest, Mode: ModeWork}
	if t != nil {
		i.Thread, i.Mode = t.id, t.info().Mode
	}
	all := contributions(k.registry.View(), threadID(t))
	for n := range all {
		c := &all[n]
		if !c.answers(name) {
			continue
		}
		if c.action != nil {
			return "", c, nil
		}
		one := []contrib.Entry[command.Prompt]{*c.prompt}
		out, found, err := contrib.First(ctx, one, func(ctx context.Context, p command.Prompt) (string, bool, error) {
			text, ok, err := p.Expand(ctx, i)
			if err == nil && len(text) > command.MaxText {
				err = &contrib.CallError{
					Cause: contrib.CauseRefused, Point: c.entry.Point, Origin: c.entry.Origin, Label: c.entry.Label,
					Rule: fmt.Sprintf("the expansion has %d bytes, at most %d are allowed", len(text), command.MaxText),
				}
			}
			return text, ok && strings.TrimSpace(text) != "", err
		}, k.report)
		if err != nil || found {
			return out, nil, err
		}
	}
	return "", nil, fmt.Errorf("%w: /%s", ErrUnknownCommand, name)
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
