package kernel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/command"
)

// commands are all slash commands of a thread in order of precedence, and who has which name.
type commands struct {
	all   []commandEntry
	named map[string]int // short name or alias -> place in all of the command that keeps it
}

// commandEntry is a command of any owner: host or contributed is set.
type commandEntry struct {
	Command
	host        *HostCommand
	contributed *contributed
	wanted      string   // its short name, whether or not it has it
	aliases     []string // all of them
}

// contributed is a command of either point: prompt or action is set.
type contributed struct {
	entry  *contrib.EntryInfo
	meta   command.Meta
	prompt *contrib.Entry[command.Prompt]
	action *contrib.Entry[command.Action]
}

// newCommands settles who has which name.
func newCommands(v *contrib.View, thread contrib.ThreadID, host []HostCommand) *commands {
	added := contributions(v, thread)
	c := &commands{all: make([]commandEntry, 0, len(host)+len(added)), named: map[string]int{}}
	for _, verbs := range []bool{true, false} {
		for i := range host {
			if host[i].verb() == verbs {
				c.all = append(c.all, hostEntry(&host[i]))
			}
		}
	}
	for i := range added {
		c.all = append(c.all, contributedEntry(&added[i]))
	}
	// Of one owner of the host no alias takes a name away; contributions keep names and aliases one after another.
	for from := 0; from < len(c.all); {
		to := from + 1
		for to < len(c.all) && c.all[from].contributed == nil && c.all[to].contributed == nil && c.all[to].Owner == c.all[from].Owner {
			to++
		}
		for i := from; i < to; i++ {
			c.claimName(i)
		}
		for i := from; i < to; i++ {
			c.claimAliases(i)
		}
		from = to
	}
	return c
}

func (c *commands) claimName(i int) {
	e := &c.all[i]
	if keeper, taken := c.named[e.wanted]; taken {
		e.KeptBy = c.all[keeper].Owner
		return
	}
	e.Name, c.named[e.wanted] = e.wanted, i
}

func (c *commands) claimAliases(i int) {
	e := &c.all[i]
	for _, a := range e.aliases {
		if _, taken := c.named[a]; !taken {
			e.Aliases, c.named[a] = append(e.Aliases, a), i
		}
	}
}

func hostEntry(h *HostCommand) commandEntry {
	e := commandEntry{host: h, wanted: h.Name, aliases: h.Aliases}
	e.Description, e.Kind, e.Owner = h.Description, FileCommand, or(h.Owner, contrib.Builtin().String())
	if h.verb() {
		e.Kind = VerbCommand
	}
	if h.Owner != "" {
		e.Qualified = h.Owner + ":" + h.Name
	}
	return e
}

func contributedEntry(c *contributed) commandEntry {
	e := commandEntry{contributed: c, wanted: c.meta.Name, aliases: c.meta.Aliases}
	e.Description, e.Kind, e.Owner = c.meta.Description, PromptCommand, c.entry.Origin.String()
	e.Qualified = strings.ToLower(or(c.entry.Origin.ID(), c.entry.Origin.Kind())) + ":" + c.meta.Name
	if c.action != nil {
		e.Kind = ActionCommand
	}
	return e
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

// answering returns the commands to ask for a name in lower case, in order: those that it is the qualified name of, else
// the command of the host that keeps it, else every contributed one that has it.
func (c *commands) answering(name string) []*commandEntry {
	var out []*commandEntry
	for i := range c.all {
		if c.all[i].Qualified == name {
			out = append(out, &c.all[i])
		}
	}
	if len(out) > 0 {
		return out
	}
	if i, ok := c.named[name]; ok && c.all[i].host != nil {
		return []*commandEntry{&c.all[i]}
	}
	for i := range c.all {
		if e := &c.all[i]; e.contributed != nil && (e.wanted == name || slices.Contains(e.aliases, name)) {
			out = append(out, e)
		}
	}
	return out
}

// sorted puts the verbs first, then everything by the name that reaches it.
func (c *commands) sorted() []commandEntry {
	out := slices.Clone(c.all)
	slices.SortStableFunc(out, func(a, b commandEntry) int {
		return cmp.Or(cmp.Compare(a.category(), b.category()), strings.Compare(a.Reached(), b.Reached()))
	})
	return out
}

// category of a command in listings.
func (e *commandEntry) category() int {
	if e.Kind == VerbCommand {
		return 0
	}
	return 1
}

// listing returns the commands as a client shows them.
func (c *commands) listing() []Command {
	out := make([]Command, 0, len(c.all))
	for _, e := range c.sorted() {
		out = append(out, e.Command)
	}
	return out
}

// maxNear is how many names the error about an unknown command lists.
const maxNear = 8

// near lists the names that a mistyped one was likely meant for, as the end of a sentence: those that it is the beginning
// of, else those that differ from it by no more than two letters.
func (c *commands) near(name string) string {
	var begun, alike []string
	for i := range c.all {
		e := &c.all[i]
		for _, own := range append([]string{e.Reached()}, e.Aliases...) {
			switch distance := toolset.Distance(name, own); {
			case strings.HasPrefix(own, name):
				begun = append(begun, "/"+own)
			case distance <= 2 && distance < len(own):
				alike = append(alike, "/"+own)
			}
		}
	}
	if len(begun) == 0 {
		begun = alike
	}
	if len(begun) == 0 {
		return ""
	}
	slices.Sort(begun)
	begun = slices.Compact(begun)
	return "; near it: " + strings.Join(begun[:min(len(begun), maxNear)], ", ")
}
