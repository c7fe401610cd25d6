package dispatcher

import (
	"context"
	"errors"
	"log/slog"

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
	running invocation
	raise   any // what serve panicked with while the tool ran
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
	return Outcome{Call: p.call, Result: r, Status: p.status(&r), Text: ResultText(r)}
}

// Call returns the call as it stands.
func (p *Prepared) Call() Call { return p.call }

// Parallel reports whether the call may run beside its neighbours: it was classified Read and Workspace.
func (p *Prepared) Parallel() bool {
	k := &p.call.Classification
	return !p.refused && k.Risk == tool.Read && k.Authority == tool.Workspace
}

// Inline reports whether the tool runs on the goroutine that calls [Prepared.Run].
func (p *Prepared) Inline() bool { return !p.refused && p.tool.Binding.Inline }

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
