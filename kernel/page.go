package kernel

import (
	"context"
	"strings"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/points/command"
	"github.com/crystalkernel/crystal/points/prompt"
)

// commandPage is the built-in section custom-commands: the commands beside the verbs as the model is told about them. The
// page of a thread is kept until one of the points of commands changes.
type commandPage struct {
	registry *contrib.Registry
	host     []HostCommand

	mu    sync.Mutex
	pages map[string]page
}

// page is what was built for one thread, and from which revisions.
type page struct {
	prompts, actions uint64
	text             string
}

// maxPages bounds what is kept: threads come and go, and a page is quickly built.
const maxPages = 1024

func commandSection(r *contrib.Registry, config Config) contrib.Set {
	c := &commandPage{registry: r, host: config.Commands, pages: map[string]page{}}
	return contrib.Set{contrib.Item(prompt.Sections, composer.Steady(prompt.SectionFunc(prompt.CustomCommands, c.content)),
		contrib.Named(prompt.CustomCommands), contrib.Order(1500), contrib.Label(prompt.CustomCommands))}
}

func (c *commandPage) content(_ context.Context, in prompt.Context) (string, error) {
	v := c.registry.View()
	prompts, actions := command.Prompts.Revision(v), command.Actions.Revision(v)
	if prompts == 0 && actions == 0 && len(c.host) == 0 {
		return "", nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.pages[in.Thread]; ok && p.prompts == prompts && p.actions == actions {
		return p.text, nil
	}
	if len(c.pages) >= maxPages {
		clear(c.pages)
	}
	text := commandText(newCommands(v, contrib.ThreadID(in.Thread), c.host).listing())
	c.pages[in.Thread] = page{prompts, actions, text}
	return text, nil
}

const commandIntro = "# Commands\n\nThe operator can use these commands. You cannot; name them where they help.\n"

func commandText(list []Command) string {
	var b strings.Builder
	for i := range list {
		b.WriteString(pageLine(&list[i]))
	}
	if b.Len() == 0 {
		return ""
	}
	return commandIntro + b.String()
}

// maxPageText is how many characters of a description the model is shown.
const maxPageText = 200

// pageLine is the line of a command in the page; nothing for a verb, whose client is no concern of the model.
func pageLine(c *Command) string {
	if c.Kind == VerbCommand {
		return ""
	}
	line := "\n- /" + c.Reached()
	text := strings.Join(strings.Fields(c.Description), " ")
	if n := []rune(text); len(n) > maxPageText {
		text = string(n[:maxPageText-1]) + "…"
	}
	if text != "" {
		line += ": " + text
	}
	return line
}
