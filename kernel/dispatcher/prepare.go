package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// maxDepth is how deep subcalls may nest.
const maxDepth = 8

// Prepared is a call after stages 1 to 11: refused, or ready to run.
type Prepared struct {
	d       *Dispatcher
	turn    *Turn
	request Request
	call    Call
	tool    *toolset.Tool
	stage   dispatch.Call // what the stages see
	refused bool
	denied  bool
	refusal tool.Result
}

// Prepare rewrites a call and takes it through stages 1 to 11. Calls of one round are prepared one after another, in
// their order.
func (d *Dispatcher) Prepare(ctx context.Context, t *Turn, r Request) *Prepared {
	p := &Prepared{d: d, turn: t, request: r}
	form := Form{r.Name, r.Arguments}
	p.call = Call{ID: r.ID, ParentID: r.ParentID, Requested: form, Effective: form}
	if r.Depth > maxDepth {
		p.refuse(failed(tool.CodeCallDepthExceeded, "Tools call each other too deeply.",
			map[string]any{"depth": r.Depth, "limit": maxDepth}))
		return p
	}
	for _, stage := range stages {
		if ctx.Err() != nil {
			p.refuse(cancelled())
		}
		if p.refused {
			return p
		}
		stage(p, ctx)
	}
	if !p.refused && ctx.Err() != nil {
		p.refuse(cancelled())
	}
	return p
}

// stages are what comes before the start of a tool, in order.
var stages = [...]func(*Prepared, context.Context){
	(*Prepared).rewrite,
	(*Prepared).resolve,   // 1
	(*Prepared).admit,     // 2 to 4
	(*Prepared).lease,     // 5
	(*Prepared).authority, // 6
	(*Prepared).arguments, // 7
	(*Prepared).classify,  // 8
	(*Prepared).policy,    // 9
	(*Prepared).advice,    // 10
	(*Prepared).approval,  // 11
}

func (p *Prepared) refuse(r tool.Result) {
	p.refused = true
	p.refusal = r
}

// deny refuses because somebody said no.
func (p *Prepared) deny(r tool.Result) {
	p.denied = true
	p.refuse(r)
}

// Refused returns the outcome of a call that may not run.
func (p *Prepared) Refused() (Outcome, bool) {
	if !p.refused {
		return Outcome{}, false
	}
	return p.outcome(p.refusal), true
}

func (p *Prepared) outcome(r tool.Result) Outcome {
	r.Executed = false
	r.Coercions = p.call.Coercions
	return Outcome{Call: p.call, Result: r, Status: statusOf(&r, p.denied), Text: ResultText(r)}
}

// Call returns the call as it stands.
func (p *Prepared) Call() Call { return p.call }

// Parallel reports whether the call may run beside its neighbours: it was classified Read and Workspace.
func (p *Prepared) Parallel() bool {
	k := &p.call.Classification
	return !p.refused && k.Risk == tool.Read && k.Authority == tool.Workspace
}

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
		p.deny(failed(tool.CodeUnauthorized, "This caller may not call the tool.",
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

// protect runs host code of a contribution and turns a panic into an error.
func (d *Dispatcher) protect(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = d.panicked(r)
		}
	}()
	return f()
}

var errPanic = errors.New("dispatcher: a panic was recovered")

func (d *Dispatcher) panicked(r any) error {
	d.logger.LogAttrs(context.Background(), slog.LevelError, "a contribution panicked",
		slog.Any("panic", r), slog.String("stack", stack()))
	return errPanic
}
