package composer

import (
	"context"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/prompt"
)

// Module contributes the built-in sections and the built-in source of agent.context. It takes *contrib.Registry from the
// graph and provides *[Live].
var Module = fx.Options(
	fx.Provide(NewLive),
	contrib.ProvideSet(Sections),
	contrib.ProvideSet(func(r *contrib.Registry, l *Live) contrib.Set {
		return contrib.Set{
			contrib.Item(prompt.Sections, Steady(chatSection(l)), contrib.Named(prompt.ChatContextSection), contrib.Order(1600),
				contrib.Label(prompt.ChatContextSection)),
			contrib.Item(prompt.Sections, Steady(threadSection(r, l)), contrib.Named(prompt.ThreadContextPage), contrib.Order(1700),
				contrib.Label(prompt.ThreadContextPage)),
			contrib.Item(prompt.Sections, Steady(profileSection(l)), contrib.Named(prompt.SubagentProfiles), contrib.Order(200),
				contrib.Label(prompt.SubagentProfiles)),
			contrib.Item(prompt.Sections, Steady(deferredSection(l)), contrib.Named(prompt.DeferredTools), contrib.Order(1800),
				contrib.Label(prompt.DeferredTools)),
			contrib.Item(prompt.Sections, Steady(roleSection(l)), contrib.Named(prompt.RoleInstructions), contrib.Order(1900),
				contrib.Label(prompt.RoleInstructions)),
			contrib.Item(agent.Contexts, Memory(r, l), contrib.Named(agent.Memory), contrib.Order(100), contrib.Label(agent.Memory)),
		}
	}),
)

// chatSection holds what prompt.chat_context says about the running turn.
func chatSection(l *Live) prompt.Section {
	return prompt.SectionFunc(prompt.ChatContextSection, func(_ context.Context, c prompt.Context) (string, error) {
		if t := l.find(c.Thread); t != nil {
			return t.notes, nil
		}
		return "", nil
	})
}

// profileSection tells about subagents that can be started.
func profileSection(l *Live) prompt.Section {
	return prompt.SectionFunc(prompt.SubagentProfiles, func(_ context.Context, c prompt.Context) (string, error) {
		if t := l.find(c.Thread); t != nil {
			return t.in.Subagents, nil
		}
		return "", nil
	})
}

// deferredSection tells about tools that are not in the list.
func deferredSection(l *Live) prompt.Section {
	return prompt.SectionFunc(prompt.DeferredTools, func(_ context.Context, c prompt.Context) (string, error) {
		if t := l.find(c.Thread); t != nil {
			return t.in.Deferred, nil
		}
		return "", nil
	})
}

// roleSection holds what a subagent is told about its part.
func roleSection(l *Live) prompt.Section {
	return prompt.SectionFunc(prompt.RoleInstructions, func(_ context.Context, c prompt.Context) (string, error) {
		if t := l.find(c.Thread); t != nil {
			return t.in.Role, nil
		}
		return "", nil
	})
}

// threadSection holds the pages of prompt.thread_context.
func threadSection(r *contrib.Registry, l *Live) prompt.Section {
	return prompt.SectionFunc(prompt.ThreadContextPage, func(ctx context.Context, c prompt.Context) (string, error) {
		if t := l.find(c.Thread); t != nil {
			return t.threadPages(ctx, r.View())
		}
		return "", nil
	})
}
