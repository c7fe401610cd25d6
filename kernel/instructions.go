package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
)

// source is one provider of agent.context in the order of the list.
type source struct {
	entry    contrib.Entry[agent.Provider]
	composes bool // it stands for the built-in source: a request without its text is not sent
}

// prepareContexts asks every source of agent.context for its provider.
func (p *plan) prepareContexts(ctx context.Context, t *turn) error {
	revision := agent.Contexts.Revision(t.view)
	if p.contexts != nil && p.contextRevision == revision && p.contextMode == t.mode && p.contextTools == p.tools {
		return nil
	}
	request := agent.Request{
		Thread: t.thread.id, Workspace: t.thread.workspace, Agent: t.thread.agent(), Prompt: agent.Prompt{Tools: p.names, DeferredNamespaces: p.namespaces, SubagentProfiles: p.profiles, Mode: t.mode},
	}
	builtin, err := t.kernel.memory.Provider(ctx, request)
	if err != nil {
		return fmt.Errorf("kernel: compose the prompt: %w", err)
	}
	entries := agent.Contexts.Entries(t.view, contrib.ThreadID(t.thread.id))
	var sources []source
	there := false
	for i := range entries {
		e := &entries[i]
		composes := e.Occupies(agent.Memory)
		there = there || composes
		found, ok, err := contrib.First(ctx, entries[i:i+1], func(ctx context.Context, s agent.Source) (agent.Provider, bool, error) {
			p, err := s.Provider(ctx, request)
			return p, p != nil, err
		}, t.report)
		switch {
		case err != nil:
			return err
		case !ok && !composes:
			continue
		case !ok:
			found = builtin
		}
		sources = append(sources, source{contrib.Entry[agent.Provider]{EntryInfo: e.EntryInfo, Value: found}, composes})
	}
	if !there {
		first := contrib.EntryInfo{Point: agent.Contexts.Name(), Origin: contrib.Builtin(), Label: agent.Memory}
		sources = append([]source{{contrib.Entry[agent.Provider]{EntryInfo: first, Value: builtin}, true}}, sources...)
	}
	p.contexts, p.builtin = sources, builtin
	p.contextRevision, p.contextMode, p.contextTools = revision, t.mode, p.tools
	return nil
}

// compose makes the instructions and the messages of the next request, and stores the instructions when they differ from
// the last ones of the mode.
func (t *turn) compose(ctx context.Context, items []*model.Item) ([]*model.Item, error) {
	text, items, err := t.instructions(ctx, items)
	if err != nil {
		return nil, err
	}
	if text != t.plan.prompt || t.plan.promptTokens == 0 {
		t.plan.prompt, t.plan.promptTokens = text, estimate.Text(text)
	}
	t.system, t.composed = t.plan.prompt, true
	log := t.thread.log
	if last, ok := log.System(t.mode); ok && last == text {
		return items, nil
	}
	if err := log.Append(&threadlog.System{Mode: t.mode, Text: text}); err != nil {
		return nil, fmt.Errorf("kernel: store the system text: %w", err)
	}
	return items, nil
}

// instructions runs the providers of agent.context, each on the result of the one before.
func (t *turn) instructions(ctx context.Context, items []*model.Item) (string, []*model.Item, error) {
	if t.fixed != "" {
		return t.fixed, items, nil
	}
	if !t.plan.transformed() {
		text, err := t.thread.prompts.Prompt(ctx, t.kernel.registry.View())
		return text, items, err
	}
	state := agent.Context{Messages: items, Tools: t.plan.names}
	for i := range t.plan.contexts {
		s := &t.plan.contexts[i]
		next, err := t.transform(ctx, s, state)
		if err != nil {
			return "", nil, err
		}
		if t.explain != nil {
			t.explain.provider(s, state.Instructions, next.Instructions)
		}
		state = next
	}
	return state.Instructions, state.Messages, nil
}

// transform asks one provider. Where the built-in source stands, and nothing comes of the one that took its place, the
// built-in one composes.
func (t *turn) transform(ctx context.Context, s *source, state agent.Context) (agent.Context, error) {
	one := [1]contrib.Entry[agent.Provider]{s.entry}
	out, answered, err := contrib.First(ctx, one[:], func(ctx context.Context, p agent.Provider) (*agent.Context, bool, error) {
		out, err := p.Transform(ctx, state)
		return out, out != nil, err
	}, t.report)
	switch {
	case err != nil:
		return state, err
	case answered:
		return *out, nil
	case !s.composes || s.entry.Value == t.plan.builtin:
		return state, nil
	}
	out, err = t.plan.builtin.Transform(ctx, state)
	if err != nil {
		return state, err
	}
	return *out, nil
}

// transformed reports whether anything but the built-in source has a say in the instructions.
func (p *plan) transformed() bool {
	return len(p.contexts) != 1 || p.contexts[0].entry.Value != p.builtin
}

// again reports whether the instructions may be others for the next request of the same turn.
func (t *turn) again() bool {
	if t.fixed != "" {
		return false
	}
	return t.plan.transformed() ||
		len(prompt.ChatContexts.In(t.kernel.registry.View(), contrib.ThreadID(t.thread.id))) > 0
}

// begin hands the inputs over, and tells what kept names mean for contributions.
func (t *turn) begin() {
	t.thread.prompts.Begin(t.inputs())
	t.noteContested()
	t.noteCommands()
}

// inputs are what the prompts of this turn are composed from.
func (t *turn) inputs() (composer.Inputs, prompt.Chat) {
	th, r := t.thread, &t.plan.request
	return composer.Inputs{
		Context: prompt.Context{Thread: th.id, Workspace: th.workspace, Mode: t.mode, Client: t.kernel.config.Client, Tools: t.plan.names},
		Binding: t.binding(t.mode),
		Hook:    hook.PromptInfo{Scope: th.scope(t.id), Mode: t.mode},
		Role:    th.role(), Deferred: t.plan.deferred, Subagents: t.plan.subagents,
		Host:   t.host,
		Report: t.report,
	}, prompt.Chat{Thread: th.id, Turn: t.id, Workspace: th.workspace, Mode: t.mode, Provider: r.Provider, Model: r.Model}
}

// binding describes a template to placeholders.
func (t *turn) binding(mode string) prompt.Binding {
	th, r := t.thread, &t.plan.request
	return t.kernel.informed(prompt.Binding{
		Mode: mode, Workspace: th.workspace, Session: th.id, Approval: th.Approval(), Provider: r.Provider, Model: r.Model,
	})
}

// noteContested tells once about each placeholder whose name another one keeps.
func (t *turn) noteContested() {
	k := t.kernel
	if len(prompt.Placeholders.In(t.view, "")) < 2 {
		return
	}
	for _, e := range composer.Contested(t.view) {
		k.mu.Lock()
		known := k.contested[e.ID]
		k.contested[e.ID] = true
		k.mu.Unlock()
		if known {
			continue
		}
		name, _ := e.Meta.(string)
		t.diagnose(contrib.Diagnostic{
			Code: codeContributionInvalid, Severity: contrib.Warning, Point: e.Point, EntryID: e.ID, Origin: e.Origin,
			Message: "the placeholder {{" + name + "}} is left out: an earlier contribution has the name",
			Params:  map[string]any{"point": e.Point, "name": name, "reasonCode": "duplicate"},
		})
	}
}

// codeContributionInvalid says that a contribution was admitted and then left out. It is the code of the plugin runtime, which
// the kernel does not know.
const codeContributionInvalid = "PluginContributionInvalid"

var errNoAnswer = errors.New("kernel: the model client returned neither an answer nor an error")
