package dispatcher

import (
	"context"
	"log/slog"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// Config says what a dispatcher works with.
type Config struct {
	Registry *contrib.Registry // required
	Logger   *slog.Logger      // nil: slog.Default()
	Home     string            // directory that holds spill/; blank: long results are cut and not kept
	// Authority is the host's own check of what a thread may call; nil allows. A denial without code is
	// tool_unauthorized.
	Authority func(ctx context.Context, c dispatch.Call) dispatch.Verdict
}

// Dispatcher runs tool calls. It is safe for use by several goroutines.
type Dispatcher struct{ config Config }

// New makes a dispatcher.
func New(c Config) *Dispatcher { return &Dispatcher{config: c} }

// Turn is what all calls of one turn share. Its fields must not change while calls run. Functions may be nil where the
// comment says what that means; they may be called by several goroutines.
type Turn struct {
	Thread, Turn string
	Agent        string // subagent; blank for the main agent
	Workspace    string
	Mode         string // work or plan
	Approval     func() string
	Snapshot     *toolset.Snapshot
	DataDirs     func(tool.Key) tool.DataDirs // nil: none
	Images       bool                         // the model takes images
	OutputLimit  int                          // characters of one result; 0: 100,000

	// TakeBudget takes one call of the turn's budget for a subcall; false refuses it. nil: no limit.
	TakeBudget func() bool
	// BeforeStart makes the durable record of a call before its tool starts. An error refuses to run it.
	BeforeStart func(Call) error
	// Result is told how a subcall ended. nil: nobody.
	Result func(Outcome)
	// Progress is told what a running tool says about itself. nil: nobody.
	Progress func(callID, text string)
	// Report receives entries that failed and were skipped. nil drops them.
	Report contrib.Report
	// Note receives what the operator should know. nil drops it.
	Note func(contrib.Diagnostic)
}

// Request is one call as it was asked for.
type Request struct {
	ID, ParentID string
	Name         string // flat name for the model, canonical name for host and app
	Arguments    string // the exact text
	Audience     tool.Audiences
	Depth        int // 0 for a call of the model
}

// Call is a call that is about to start: all stages before the start have let it pass.
type Call struct {
	ID, ParentID   string
	Requested      Form
	Effective      Form
	Rewritten      bool
	Definition     *tool.Definition
	Classification tool.Classification
	Verdict        dispatch.Verdict // of the stage that decided
	Coercions      []tool.Coercion
}

// Form is name and arguments of a call. Name is the one that was used to ask.
type Form struct{ Name, Arguments string }

// Outcome is how a call ended: exactly one for each call.
type Outcome struct {
	Call
	Result   tool.Result
	Status   model.Status
	Duration time.Duration // of the invocation
	Executed bool          // the tool was started
	Text     string        // what the model is told
}

// Prepared is a call after stages 1 to 11: refused, or ready to run.
type Prepared struct {
	call    Call
	refusal *Outcome
}

// Refused returns the outcome of a call that may not run.
func (p *Prepared) Refused() (Outcome, bool) {
	if p.refusal == nil {
		return Outcome{}, false
	}
	return *p.refusal, true
}

// Call returns the call as it stands.
func (p *Prepared) Call() Call { return p.call }

// Parallel reports whether the call may run beside its neighbours: it was classified Read and Workspace.
func (p *Prepared) Parallel() bool {
	k := p.call.Classification
	return p.refusal == nil && k.Risk == tool.Read && k.Authority == tool.Workspace
}

// Prepare rewrites a call and takes it through stages 1 to 11. Calls of one round are prepared one after another.
func (d *Dispatcher) Prepare(ctx context.Context, t *Turn, r Request) *Prepared { return &Prepared{} }

// Run starts a prepared call and takes it through stages 12 to 16. It is called at most once; for a refused call it
// returns the refusal. Prepared calls may run at the same time. The result hook is not run: see [Prepared.Finish].
func (p *Prepared) Run(ctx context.Context) Outcome { return Outcome{} }

// Finish runs the result hooks over the outcome of Run, in call order, and returns the outcome to commit.
func (p *Prepared) Finish(ctx context.Context, o Outcome) Outcome { return o }

// Dispatch is Prepare, Run and Finish.
func (d *Dispatcher) Dispatch(ctx context.Context, t *Turn, r Request) Outcome { return Outcome{} }

var _ hook.Call
