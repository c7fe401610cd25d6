package dispatcher

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
)

// maxHookName is how long a name that a hook returns may be, in characters.
const maxHookName = 128

// rewrite lets the hooks change name and arguments before anything else looks at the call.
func (p *Prepared) rewrite(ctx context.Context) {
	entries := hook.ToolCalls.Entries(p.d.registry.View(), contrib.ThreadID(p.turn.Thread))
	if len(entries) == 0 {
		return
	}
	p.turn.rewriting.Lock()
	defer p.turn.rewriting.Unlock()
	before := hook.Call{
		Scope: p.turn.scope(), ID: p.request.ID, ParentID: p.request.ParentID,
		Tool: p.request.Name, Arguments: json.RawMessage(p.request.Arguments),
	}
	after, err := fold(ctx, entries, before, rewriteWith, p.turn.report())
	if err != nil {
		return // the turn was cancelled, which the next look at the context finds
	}
	p.call.Effective = Form{after.Tool, string(after.Arguments)}
	p.call.Rewritten = p.call.Effective != p.call.Requested
}

// rewriteWith asks one hook. Only name and arguments are taken over.
func rewriteWith(ctx context.Context, h hook.ToolCall, c hook.Call, e *contrib.EntryInfo) (hook.Call, error) {
	n, err := h.ToolCall(ctx, c.Copy())
	switch {
	case err != nil || n == nil:
		return c, err
	case n.ID != c.ID:
		return c, refusal(e, "a changed call id")
	case strings.TrimSpace(n.Tool) == "":
		return c, refusal(e, "a blank tool name")
	case utf8.RuneCountInString(n.Tool) > maxHookName:
		return c, refusal(e, "a tool name over 128 characters")
	}
	own := n.Copy()
	c.Tool, c.Arguments = own.Tool, own.Arguments
	return c, nil
}
