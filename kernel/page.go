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

// commandPage is the built-in section custom-commands: the contributed commands as the model is told about them. The page
// of a thread is kept until one of the points of commands changes.
type commandPage struct {
	registry *contrib.Registry

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

func commandSection(r *contrib.Registry) contrib.Set {
	c := &commandPage{registry: r, pages: map[string]page{}}
	return contrib.Set{contrib.Item(prompt.Sections, composer.Steady(prompt.SectionFunc(prompt.CustomCommands, c.content)),
		contrib.Named(prompt.CustomCommands), contrib.Order(1500), contrib.Label(prompt.CustomCommands))}
}

func (c *commandPage) content(_ context.Context, in prompt.Context) (string, error) {
	v := c.registry.View()
	prompts, actions := command.Prompts.Revision(v), command.Actions.Revision(v)
	if prompts == 0 && actions == 0 {
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
	text := commandText(listed(v, contrib.ThreadID(in.Thread), nil))
	c.pages[in.Thread] = page{prompts, actions, text}
	return text, nil
}

func commandText(commands []Command) string {
	if len(commands) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Commands\n\nThe operator can use these commands. You cannot; name them where they help.\n")
	for i := range commands {
		b.WriteString("\n- /" + commands[i].shown())
		if d := commands[i].Description; d != "" {
			b.WriteString(": " + d)
		}
	}
	return b.String()
}
