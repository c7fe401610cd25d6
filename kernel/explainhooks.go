package kernel

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/rawhook"
)

// ExplainedHook is one hook point at one place of a turn.
type ExplainedHook struct {
	Point   string      `json:"point"`
	When    string      `json:"when"` // what happens in the turn at this place
	Entries []HookEntry `json:"entries"`
}

// HookEntry is one contribution to a hook point.
type HookEntry struct {
	Explained
	Deadline string `json:"deadline,omitempty"` // of one call, as 10s; blank: the caller's own
	Bytes    *int   `json:"bytes"`              // what it adds to each request; nil: it depends on the turn
	Tokens   *int   `json:"tokens"`             // estimated
}

// hookOrder are the hook points in the order in which a turn comes to them.
var hookOrder = []struct {
	point contrib.AnyPoint
	when  string
}{
	{hook.Sessions, "the session starts, or ends"},
	{hook.UserMessages, "the user message came in"},
	{hook.Turns, "the turn starts, or has ended"},
	{hook.Prompts, "the prompt is composed"},
	{rawhook.RewritePrompts, "the prompt is composed, and that of a summary"},
	{hook.Compactions, "a summary is asked for, and stored"},
	{rawhook.RewriteCompactions, "a summary is asked for, and stored"},
	{rawhook.RebuildModels, "a request is made"},
	{hook.TransformModels, "a request is made, after every rebuild"},
	{hook.ModelResponses, "the model has answered"},
	{hook.ToolCalls, "the model calls a tool"},
	{hook.Approvals, "a call is judged"},
	{rawhook.RewriteApprovals, "a call was judged"},
	{hook.ToolResults, "a tool has returned"},
}

// ExplainHooks lists every hook point in the order in which a turn comes to it, with its contributions in the order in which
// they run. What a hook adds to the prompt is found by composing one. Arguments, effects and errors as for
// [Kernel.ExplainPrompt].
func (k *Kernel) ExplainHooks(ctx context.Context, thread string, o Options) ([]ExplainedHook, error) {
	ctx, x, done, err := k.rehearse(ctx, thread, o)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := x.compose(ctx)
	if err != nil {
		return nil, err
	}
	costs := map[string]*PromptPart{}
	parts := x.parts(text)
	for i := range parts {
		if parts[i].Kind == HookPart {
			costs[parts[i].key] = &parts[i]
		}
	}
	out := make([]ExplainedHook, 0, len(hookOrder))
	for _, h := range hookOrder {
		one := ExplainedHook{Point: h.point.Name(), When: h.when, Entries: []HookEntry{}}
		infos := h.point.Infos(x.view(), x.thread())
		for i := range infos {
			e := HookEntry{Explained: explained(&infos[i])}
			if d := infos[i].Deadline; d > 0 {
				e.Deadline = d.Round(time.Millisecond).String()
			}
			if p := costs[infos[i].String()]; p != nil {
				e.Explained, e.Bytes, e.Tokens = p.Explained, &p.Bytes, &p.Tokens
			}
			one.Entries = append(one.Entries, e)
		}
		out = append(out, one)
	}
	return out, nil
}
