package kernel

import (
	"context"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/modelhook"
	points "github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
)

// compactionInputs are what a compaction of this thread works with.
func (t *turn) compactionInputs(reason compaction.Reason, hint, turn string) compaction.Inputs {
	th, r := t.thread, &t.plan.request
	id := contrib.ThreadID(th.id)
	registry := t.kernel.registry
	hooked := modelhook.Request{Scope: th.scope(turn), Purpose: model.Compaction, Report: t.report}
	return compaction.Inputs{
		Reason: reason, Hint: hint, Thread: th.id, Turn: turn, Workspace: th.workspace, Provider: r.Provider,
		Log: th.log, Settings: t.settings(), Load: t.load(), Sends: t.sends(), Client: quiet(t.plan.pipeline),
		Request:     model.Request{Model: r.Model, Gear: t.gear, Temperature: r.Temperature, TopP: r.TopP},
		Summarizers: func() []contrib.Entry[points.Summarizer] { return points.Summarizers.Entries(registry.View(), id) },
		Policies:    func() []contrib.Entry[points.ToolPolicy] { return points.ToolPolicies.Entries(registry.View(), id) },
		Hooks: compaction.Hooks{
			Model: func(ctx context.Context, items []*model.Item) ([]*model.Item, error) {
				own := hooked
				own.Items = items
				p, err := modelhook.Prepare(ctx, registry.View(), own)
				return p.Items, err
			},
			Response: func(ctx context.Context, a *model.Response) error {
				return modelhook.Observe(ctx, registry.View(), hooked, a)
			},
			Text: func(ctx context.Context, p hook.Phase, text string) (string, error) {
				return t.summaryText(ctx, hooked.Scope, p, text)
			},
		},
		Prompt: func(ctx context.Context, p compaction.Parts) (system, user string, err error) {
			return t.summaryPrompt(ctx, hooked.Scope, p)
		},
		Note: func(code, message string) {
			t.side.post(Noted{Code: code, Severity: contrib.Warning, Message: message})
		},
		Report: t.report,
	}
}

// quiet is a client for requests whose stream nobody follows. An answer that is nil is an error.
func quiet(c model.Client) model.Client {
	return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
		answer, err := c.Round(ctx, r, emit)
		if err == nil && answer == nil {
			err = errNoAnswer
		}
		return answer, err
	})
}

// compactionMode is the mode that hooks and placeholders see for the prompt of a summary request.
const compactionMode = "compaction"

// summaryPrompt makes the texts of a summary request: placeholders are bound, and raw hooks may replace the system text.
func (t *turn) summaryPrompt(ctx context.Context, s hook.Scope, p compaction.Parts) (system, user string, err error) {
	v := t.kernel.registry.View()
	th := t.thread
	in := composer.Inputs{
		Context: prompt.Context{Thread: th.id, Workspace: th.workspace, Mode: compactionMode, Client: t.kernel.config.Client},
		Binding: t.binding(compactionMode),
		Hook:    hook.PromptInfo{Scope: s, Mode: compactionMode},
		Host: func(name string) string {
			switch name {
			case "conversation":
				return p.Conversation
			case "prior_summary_section":
				return p.PriorSummary
			case "summary_task":
				return p.SummaryTask
			case "output_template":
				return p.Output
			case "todos_section":
				return p.Todos
			case "mode":
				return compactionMode
			}
			return t.placeholder(name)
		},
		Report: t.report,
	}
	if system, err = composer.Bind(ctx, v, in, compaction.SystemTemplate); err != nil {
		return "", "", err
	}
	if system, err = composer.Rewrite(ctx, v, in, strings.TrimSpace(system)); err != nil {
		return "", "", err
	}
	user, err = composer.Bind(ctx, v, in, compaction.UserTemplate)
	return system, strings.TrimSpace(user), err
}

// summaryText runs the text hooks of a compaction: those that append, then those that replace.
func (t *turn) summaryText(ctx context.Context, s hook.Scope, p hook.Phase, text string) (string, error) {
	v, id := t.kernel.registry.View(), contrib.ThreadID(t.thread.id)
	text, err := contrib.Fold(ctx, hook.Compactions.Entries(v, id), text, func(ctx context.Context, h hook.Compaction, text string) (string, error) {
		add, err := h.Compaction(ctx, s, p, text)
		return composer.Append(text, add), err
	}, t.report, contrib.Forwards)
	if err != nil {
		return "", err
	}
	return contrib.Fold(ctx, rawhook.RewriteCompactions.Entries(v, id), text, func(ctx context.Context, h rawhook.RewriteCompaction, text string) (string, error) {
		out, err := h.RewriteCompaction(ctx, s, p, text)
		if err != nil || out == nil {
			return text, err
		}
		return *out, nil
	}, t.report, contrib.Forwards)
}
