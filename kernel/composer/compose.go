package composer

import (
	"context"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
)

// Separator stands between two sections.
const Separator = "\n\n---\n\n"

// Inputs are what a prompt is composed from.
type Inputs struct {
	Context prompt.Context
	Binding prompt.Binding
	Hook    hook.PromptInfo
	// Deferred is what the agent is told about tools that it has to search for; blank: there are none.
	Deferred string
	// Subagents is what an agent is told about subagents that it can start; blank: it can start none.
	Subagents string
	// Role is what a subagent is told about its part; blank for the main agent.
	Role string
	// Host resolves the placeholders that the host owns; nil leaves them blank.
	Host func(name string) string
	// Report receives entries that failed and were skipped.
	Report contrib.Report
	// Trace is told of each step that was taken; nil for nobody. A [Thread] with it asks every section again.
	Trace func(Step)
}

// Part is one section of a composed prompt.
type Part struct {
	Entry *contrib.EntryInfo // shared, must not be changed
	Name  string
	Text  string // trimmed
}

// Parts returns the sections that have content, in order. A failing section is reported and left out.
func Parts(ctx context.Context, v *contrib.View, in Inputs) ([]Part, error) {
	return appendParts(ctx, v, in, nil)
}

func appendParts(ctx context.Context, v *contrib.View, in Inputs, parts []Part) ([]Part, error) {
	entries := prompt.Sections.Entries(v, contrib.ThreadID(in.Context.Thread))
	i := -1
	err := contrib.FanOut(ctx, entries, func(ctx context.Context, s prompt.Section) error {
		i++
		text, err := s.Content(ctx, in.Context)
		if err != nil {
			return err
		}
		text = strings.TrimSpace(text)
		if in.Trace != nil {
			in.Trace(Step{Kind: SectionStep, Entry: &entries[i].EntryInfo, Name: s.Name(), Text: text})
		}
		if text != "" {
			parts = append(parts, Part{Entry: &entries[i].EntryInfo, Name: s.Name(), Text: text})
		}
		return nil
	}, in.Report)
	return parts, err
}

// Compose returns the whole system prompt. The error is that of ctx: everything else that fails is reported and left out.
func Compose(ctx context.Context, v *contrib.View, in Inputs) (string, error) {
	parts, err := Parts(ctx, v, in)
	if err != nil {
		return "", err
	}
	return Finish(ctx, v, in, Join(parts))
}

// Join puts the sections together.
func Join(parts []Part) string { return string(appendJoined(nil, parts)) }

func appendJoined(out []byte, parts []Part) []byte {
	for i := range parts {
		if i > 0 {
			out = append(out, Separator...)
		}
		out = append(out, parts[i].Text...)
	}
	return out
}

// Finish takes an assembled prompt through the assembler, the placeholders and the hooks.
func Finish(ctx context.Context, v *contrib.View, in Inputs, text string) (string, error) {
	thread := contrib.ThreadID(in.Context.Thread)
	if all := prompt.Assemblers.Entries(v, thread); len(all) > 0 {
		last := all[len(all)-1:]
		out, err := contrib.Fold(ctx, last, text, func(ctx context.Context, a prompt.Assembler, text string) (string, error) {
			out, err := a.Assemble(ctx, text, in.Context)
			if err != nil || out == nil {
				return text, err
			}
			trace(in.Trace, AssemblerStep, &last[0].EntryInfo, *out)
			return *out, nil
		}, in.Report, contrib.Forwards)
		if err != nil {
			return "", err
		}
		text = out
	}
	text, err := Bind(ctx, v, in, text)
	if err != nil {
		return "", err
	}
	trace(in.Trace, PlaceholderStep, nil, text)
	return Hooks(ctx, v, in, text)
}

// Hooks runs the prompt hooks over a composed text: hook.prompt appends, rawhook.rewrite_prompt replaces.
func Hooks(ctx context.Context, v *contrib.View, in Inputs, text string) (string, error) {
	thread := contrib.ThreadID(in.Context.Thread)
	if hooks := hook.Prompts.Entries(v, thread); len(hooks) > 0 {
		i := -1
		out, err := contrib.Fold(ctx, hooks, text, func(ctx context.Context, h hook.Prompt, text string) (string, error) {
			i++
			add, err := h.Prompt(ctx, in.Hook, text)
			if err != nil {
				return text, err
			}
			text = Append(text, add)
			trace(in.Trace, HookStep, &hooks[i].EntryInfo, text)
			return text, nil
		}, in.Report, contrib.Forwards)
		if err != nil {
			return "", err
		}
		text = out
	}
	return Rewrite(ctx, v, in, text)
}

// Rewrite runs rawhook.rewrite_prompt over a composed text: all that a summary request has of the prompt hooks.
func Rewrite(ctx context.Context, v *contrib.View, in Inputs, text string) (string, error) {
	raws := rawhook.RewritePrompts.Entries(v, contrib.ThreadID(in.Context.Thread))
	if len(raws) == 0 {
		return text, nil
	}
	i := -1
	return contrib.Fold(ctx, raws, text, func(ctx context.Context, h rawhook.RewritePrompt, text string) (string, error) {
		i++
		out, err := h.RewritePrompt(ctx, in.Hook, text)
		if err != nil {
			return text, err
		}
		if out != nil {
			text = *out
		}
		trace(in.Trace, HookStep, &raws[i].EntryInfo, text)
		return text, nil
	}, in.Report, contrib.Forwards)
}

// Append adds what an appending hook returned: trimmed, after a blank line; blank adds nothing.
func Append(text, add string) string {
	add = strings.TrimSpace(add)
	if add == "" {
		return text
	}
	return text + "\n\n" + add
}
