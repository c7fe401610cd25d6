package kernel

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
)

// Input is one user input and what is wanted for its turn.
type Input struct {
	Text   string // required
	Mode   string // work or plan; blank: the thread's
	Model  string // provider/model; blank: the thread's
	Gear   string // thinking gear; blank: the model's default
	Limits Limits // zero values: the kernel's
}

// Turn is a turn that has been described and not yet run: [Turn.Events] runs it.
type Turn struct {
	thread *Thread
	ctx    context.Context
	input  Input
	once   sync.Once
	result Result
	err    error
}

// Start describes a turn. It runs when its events are read, or when [Turn.Wait] is called; ctx cancels it.
func (t *Thread) Start(ctx context.Context, in Input) *Turn {
	return &Turn{thread: t, ctx: ctx, input: in}
}

// Events runs the turn in the caller's goroutine and yields its events as they happen; the turn waits for the loop body.
// Leaving the loop early interrupts the turn, which then ends before the loop statement does. A turn runs once: later
// loops yield nothing.
func (t *Turn) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		t.once.Do(func() {
			ctx, cancel := context.WithCancel(t.ctx)
			defer cancel()
			open := true
			t.result, t.err = t.thread.Run(ctx, t.input, func(e Event) {
				if open && !yield(e) {
					open = false
					cancel()
				}
			})
		})
	}
}

// Wait runs the turn if it has not run yet, and returns how it ended. The error says why it could not start; a turn that
// ran has none, whatever its stop reason.
func (t *Turn) Wait() (Result, error) {
	t.once.Do(func() { t.result, t.err = t.thread.Run(t.ctx, t.input, nil) })
	return t.result, t.err
}

// turn is a running turn. All of it is used by the goroutine that runs the turn, except where it says otherwise. A thread
// has one and uses it for all its turns, since they run one after another.
type turn struct {
	kernel *Kernel
	thread *Thread
	plan   *plan
	side   sideEvents
	calls  dispatcher.Turn
	report contrib.Report            // reportFailure; made once, as the next one is
	delta  func(d model.Delta) error // onDelta

	turnState
}

// turnState is what belongs to a single turn.
type turnState struct {
	id     string
	mode   string
	ref    string // model that was asked for
	gear   string
	limits Limits
	text   string // stored user text
	view   *contrib.View
	emit   func(Event) // nil: nobody listens

	system  string
	brake   compaction.Brake
	result  Result
	round   int
	attempt attempt
	loop    loopGuard
	raw     []string // raw hooks that changed the request of this round

	once failures
}

func newTurn(t *Thread) *turn {
	r := &turn{kernel: t.kernel, thread: t, plan: &t.plan}
	r.side.wake = make(chan struct{}, 1)
	r.report, r.delta = r.reportFailure, r.onDelta
	r.calls = dispatcher.Turn{
		Thread: t.id, Workspace: t.workspace, Approval: t.Approval, DataDirs: t.kernel.config.DataDirs,
		TakeBudget: r.takeBudget, BeforeStart: r.beforeStart, Result: r.subcallEnded,
		Progress: func(callID, text string) { r.side.post(CallProgress{CallID: callID, Text: text}) },
		Report:   r.report, Note: r.diagnose,
	}
	return r
}

// reset forgets the turn before.
func (t *turn) reset() {
	text := t.attempt.text[:0]
	t.turnState = turnState{}
	t.attempt.text = text
	t.side.take()
}

// Run runs one turn to its end and hands each event to emit, which may be nil; events come one after another, on the
// goroutine that called Run. A turn that is started while another one runs waits for it. ctx cancels the turn, which then
// ends as interrupted with everything stored.
//
// The error says why the turn could not start: ErrBlank, ErrThreadClosed, an unknown model, a log that cannot be written,
// or the error of ctx. A turn that ran has a nil error, whatever its stop reason.
func (t *Thread) Run(ctx context.Context, in Input, emit func(Event)) (Result, error) {
	if strings.TrimSpace(in.Text) == "" {
		return Result{}, ErrBlank
	}
	if in.Mode != "" && in.Mode != ModeWork && in.Mode != ModePlan {
		return Result{}, fmt.Errorf("%w %q: it is work or plan", ErrMode, in.Mode)
	}
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	default:
		select {
		case t.busy <- struct{}{}:
			defer func() { <-t.busy }()
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	r := t.turn
	r.reset()
	defer r.reset()
	r.gear, r.emit = in.Gear, emit
	r.limits = in.Limits.or(t.kernel.config.Limits).or(defaultLimits)
	t.mu.Lock()
	if in.Mode != "" {
		t.mode = in.Mode
	}
	if in.Model != "" {
		t.model = in.Model
	}
	r.mode, r.ref = t.mode, t.model
	closed := t.closed
	t.mu.Unlock()
	if closed {
		return Result{}, ErrThreadClosed
	}
	if err := r.start(ctx, in.Text); err != nil {
		return Result{}, err
	}
	return r.run(ctx), nil
}

// start brings the turn to the point where it exists: the user message is stored.
func (t *turn) start(ctx context.Context, text string) error {
	th := t.thread
	t.view = t.kernel.registry.View()
	// The model is found, and tools are planned, before anything is stored: a turn that cannot start leaves no trace.
	t.id = th.nextTurn()
	if err := t.plan.prepare(ctx, t); err != nil {
		th.turns--
		return err
	}
	text, err := t.userMessage(ctx, text)
	if err != nil {
		th.turns--
		return err
	}
	t.text = text
	r := &t.plan.request
	item := &model.Item{Kind: model.Message, Role: model.User, Text: text}
	err = th.log.Append(&threadlog.Turn{
		Turn: t.id, Mode: t.mode, Provider: r.Provider, Model: r.Model, Approval: th.Approval(), Item: item,
	})
	if err != nil {
		return fmt.Errorf("kernel: store the user message: %w", err)
	}
	th.meter.Add(estimate.Item(item, t.sends()))
	t.result = Result{Turn: t.id, Window: r.ContextWindow}
	return nil
}

// userMessage runs the hooks of the user message: each sees what the one before left, and blank is refused.
func (t *turn) userMessage(ctx context.Context, text string) (string, error) {
	entries := hook.UserMessages.Entries(t.view, contrib.ThreadID(t.thread.id))
	if len(entries) == 0 {
		return text, nil
	}
	scope := t.thread.scope(t.id)
	return contrib.Fold(ctx, entries, text, func(ctx context.Context, h hook.UserMessage, text string) (string, error) {
		next, ok, err := h.UserMessage(ctx, scope, text)
		next = strings.TrimSpace(next)
		if err != nil || !ok || next == "" {
			return text, err
		}
		return next, nil
	}, t.report, contrib.Forwards)
}

// run takes a stored turn to its end.
func (t *turn) run(parent context.Context) Result {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	if t.limits.Duration > 0 {
		timer := time.AfterFunc(t.limits.Duration, func() { cancel(errDuration) })
		defer timer.Stop()
	}
	th, r := t.thread, &t.plan.request
	if t.listening() {
		t.send(TurnStarted{Turn: t.id, Thread: th.id, Mode: t.mode, Provider: r.Provider, Model: r.Model, Text: t.text})
	}
	for _, n := range th.takeNotes() {
		t.send(n)
	}
	t.calls.Begin(t.id, t.mode, t.plan.tools, r.ImageInput, t.limits.ToolOutput)
	t.observeStart(ctx)
	stop, err := t.rounds(ctx)
	if cause := context.Cause(ctx); cause != nil && stop != Completed {
		stop, err = Interrupted, cause
		if errors.Is(cause, errDuration) {
			stop = DurationLimitReached
		}
	}
	t.result.Stop, t.result.Err = stop, err
	t.finish(context.WithoutCancel(parent))
	return t.result
}

var errDuration = errors.New("kernel: the time of the turn is used up")

// lifecycle describes the turn to observers.
func (t *turn) lifecycle() thread.Turn {
	r := &t.plan.request
	return thread.Turn{Thread: t.thread.id, ID: t.id, Workspace: t.thread.workspace, Mode: t.mode, Provider: r.Provider, Model: r.Model}
}

func (t *turn) hookTurn() hook.Turn {
	return hook.Turn{Scope: t.thread.scope(t.id), Mode: t.mode, UserText: t.text, StopReason: string(t.result.Stop)}
}

func (t *turn) observeStart(ctx context.Context) {
	id := contrib.ThreadID(t.thread.id)
	v := t.kernel.registry.View()
	if entries := hook.Turns.Entries(v, id); len(entries) > 0 {
		info := t.hookTurn()
		_ = contrib.FanOut(ctx, entries, func(ctx context.Context, o hook.TurnObserver) error { return o.TurnStarted(ctx, info) }, t.report)
	}
	if entries := thread.TurnObservers.Entries(v, id); len(entries) > 0 {
		info := t.lifecycle()
		_ = contrib.FanOut(ctx, entries, func(ctx context.Context, o thread.TurnObserver) error { return o.TurnStarted(ctx, info) }, t.report)
	}
	t.kernel.signal(thread.TurnStarted, t.thread, t.id, "")
}

// finish stores the end of the turn and tells everybody. ctx is not cancelled with the turn.
func (t *turn) finish(ctx context.Context) {
	res := &t.result
	err := t.thread.log.Append(&threadlog.TurnEnd{
		Turn: t.id, Stop: string(res.Stop), ModelCalls: res.ModelCalls, ToolCalls: res.ToolCalls, Denials: res.Denials, Usage: &res.Usage,
	})
	if err != nil && res.Stop != Failed {
		res.Stop, res.Err = Failed, fmt.Errorf("kernel: store the end of the turn: %w", err)
	}
	if res.Stop == Failed || res.Stop == ContextOverflow {
		t.send(t.failure())
	}
	id := contrib.ThreadID(t.thread.id)
	v := t.kernel.registry.View()
	if entries := hook.Turns.Entries(v, id); len(entries) > 0 {
		info := t.hookTurn()
		_ = contrib.FanOut(ctx, entries, func(ctx context.Context, o hook.TurnObserver) error { return o.TurnFinished(ctx, info) }, t.report)
	}
	if entries := thread.TurnObservers.Entries(v, id); len(entries) > 0 {
		info := t.lifecycle()
		status := res.Stop.status()
		var cause error
		if status != thread.Completed {
			cause = errors.New(string(res.Stop))
		}
		_ = contrib.FanOut(ctx, entries, func(ctx context.Context, o thread.TurnObserver) error {
			return o.TurnEnded(ctx, info, status, cause)
		}, t.report)
	}
	kind := thread.TurnCompleted
	switch res.Stop.status() {
	case thread.Failed:
		kind = thread.TurnFailed
	case thread.Cancelled:
		kind = thread.TurnCancelled
	}
	t.kernel.signal(kind, t.thread, t.id, "")
	t.send(TurnEnded{Result: *res})
}

// failure is the event that says why the turn failed.
func (t *turn) failure() Failure {
	f := Failure{Code: string(t.result.Stop), Partial: t.attempt.partial()}
	var provider *model.Error
	switch {
	case errors.As(t.result.Err, &provider):
		f.Code, f.Message = provider.Code, provider.Error()
	case t.result.Err != nil:
		f.Message = t.result.Err.Error()
	}
	return f
}
