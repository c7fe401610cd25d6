package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// resolve finds the tool in the frozen snapshot.
func (p *Prepared) resolve(context.Context) {
	name := p.call.Effective.Name
	s := p.turn.Snapshot
	var t *toolset.Tool
	if s != nil && len(name) <= 2*maxShownName+1 {
		t = p.find(s, name)
	}
	if t == nil {
		p.refuse(p.notFound(s, name))
		return
	}
	p.tool = t
	p.call.Definition = t.Definition
	p.call.Effective.Name = t.Flat
	if p.request.Audience != tool.AudienceModel {
		p.call.Effective.Name = t.Canonical
	}
	p.stage = dispatch.Call{
		Thread: p.turn.Thread, Turn: p.turn.Turn, ID: p.request.ID, ParentID: p.request.ParentID, Agent: p.turn.Agent,
		Audience: p.request.Audience, Definition: t.Definition, Mode: p.turn.Mode, Workspace: p.turn.Workspace,
		OutputLimit: p.turn.limit(), Images: p.turn.Images,
	}
	if p.turn.Approval != nil {
		p.stage.Approval = p.turn.Approval()
	}
}

// find looks for the kind of name that the caller uses. A tool that calls another one knows canonical names only.
func (p *Prepared) find(s *toolset.Snapshot, name string) *toolset.Tool {
	if p.request.Audience != tool.AudienceModel {
		t, _ := s.ByCanonical(name)
		return t
	}
	t, exact := s.ByFlat(name)
	if p.request.Depth > 0 && !exact {
		if c, exact := s.ByCanonical(name); c != nil && (t == nil || exact) {
			return c
		}
	}
	return t
}

// Limits of the text about an unknown name, in characters.
const (
	maxShownName   = 64
	maxNearest     = 20
	maxMissingText = 1000
)

func (p *Prepared) notFound(s *toolset.Snapshot, name string) tool.Result {
	shown := shownName(name)
	text := `There is no tool "` + shown + `".`
	if s != nil {
		separator := " The nearest are: "
		for _, near := range s.Nearest(name, p.request.Audience, maxNearest) {
			if len(text)+len(separator)+len(near)+1 > maxMissingText-len("Error tool_not_found: ") {
				break
			}
			text += separator + near
			separator = ", "
		}
		if separator == ", " {
			text += "."
		}
	}
	return failed(tool.CodeNotFound, text, map[string]any{"name": shown})
}

// shownName escapes a name that a caller made up and cuts it to 64 characters.
func shownName(name string) string {
	var b strings.Builder
	left := maxShownName
	for _, r := range name {
		piece := string(r)
		if r < 0x20 || r == '"' || r == '\\' || r >= 0x7f {
			piece = fmt.Sprintf("%+q", r)
			piece = piece[1 : len(piece)-1]
		}
		if left -= len(piece); left < 0 {
			break
		}
		b.WriteString(piece)
	}
	return b.String()
}

// admit checks who calls, and whether the tool is offered.
func (p *Prepared) admit(context.Context) {
	switch {
	case !p.tool.Callable(p.request.Audience):
		p.refuse(failed(tool.CodeUnauthorized, "This caller may not call the tool.",
			map[string]any{"audience": p.request.Audience.String()}))
	case p.tool.Binding.Unavailable:
		p.refuse(unserved(tool.ReasonNotAvailable))
	}
}

func (p *Prepared) lease(ctx context.Context) {
	l := p.tool.Binding.Lease
	if l == nil {
		return
	}
	err := p.d.protect(func() error { return l.Check(ctx) })
	if err == nil || ctx.Err() != nil {
		return
	}
	p.d.logger.Warn("a tool's lease refused a call", "tool", p.tool.Canonical, "call", p.request.ID, "error", err)
	reason := tool.ReasonLease
	if errors.Is(err, contrib.ErrRevoked) {
		reason = tool.ReasonRevoked
	}
	p.refuse(unserved(reason))
}

func (p *Prepared) authority(ctx context.Context) {
	if p.d.authority == nil {
		return
	}
	v := p.d.authority(ctx, p.stage)
	if v.Allow {
		return
	}
	p.call.Verdict = v
	p.deny(denial(v, tool.CodeUnauthorized, "This thread may not call the tool."))
}

// arguments parses, validates and coerces.
func (p *Prepared) arguments(context.Context) {
	args, coercions, f := p.tool.Input.Check(p.call.Effective.Arguments)
	if f != nil {
		params := map[string]any{"reasonCode": string(f.Reason)}
		if f.Offset >= 0 {
			params["offset"] = f.Offset
		}
		if len(f.Errors) > 0 {
			params["errors"] = f.Errors
		}
		p.refuse(failed(tool.CodeInputInvalid, f.Text(p.call.Effective.Name, p.tool.Input), params))
		return
	}
	p.stage.Arguments = args
	if len(coercions) > 0 {
		p.call.Coercions = coercions
		p.call.Effective.Arguments = string(args)
	}
}
