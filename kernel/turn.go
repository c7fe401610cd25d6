package kernel

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

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
	group  group
	keys   map[*tool.Definition]string // text forms; under side.mu
	keyed  *toolset.Snapshot           // the plan that they are of
	spent  spent                       // by subagents; under side.mu

	children []*child          // subagents that run; under side.mu
	claims   map[string]*child // ids of the calls of subagents; under side.mu

	report contrib.Report            // reportFailure; made once, as those below are
	delta  func(d model.Delta) error // onDelta
	serve  func()                    // flush
	host   func(name string) string  // placeholder

	explain *explanation // set where a turn is explained and not run: nobody is told of anything

	turnState
}

// turnState is what belongs to a single turn.
type turnState struct {
	id      string
	mode    string
	ref     string // model that was asked for
	gear    string
	fixed   string // instructions that the caller gave word for word
	limits  Limits
	text    string // stored user text
	view    *contrib.View
	cancel  context.CancelFunc
	emit    func(Event) // nil: nobody listens
	emitted bool        // emit is running: a panic is the listener's

	system   string // system text of the next request
	composed bool   // system is that of the next request
	brake    compaction.Brake
	result   Result
	round    int
	attempt  attempt
	loop     loopGuard
	raw      []string // raw hooks that changed the request of this round
	begun    []uint64 // entries of turn.lifecycle that know of the turn

	once failures
}

func newTurn(t *Thread) *turn {
	r := &turn{kernel: t.kernel, thread: t, plan: &t.plan}
	r.side.wake = make(chan struct{}, 1)
	r.group.done = make(chan struct{}, maxParallel)
	r.report, r.delta, r.host, r.serve = r.reportFailure, r.onDelta, r.placeholder, r.flush
	if t.child != nil {
		r.side.pass = t.child.pass
	}
	r.calls = dispatcher.Turn{
		Thread: t.id, Agent: t.agent(), Workspace: t.workspace, Approval: t.Approval, DataDirs: t.kernel.config.DataDirs,
		TakeBudget: r.takeCall, BeforeStart: r.beforeStart, Result: r.subcallEnded,
		Progress: func(callID, text string) { r.side.post(CallProgress{CallID: callID, Text: text}) },
		Report:   r.report, Note: r.diagnose,
	}
	return r
}

// reset forgets the turn before.
func (t *turn) reset() {
	text, reasoning := t.attempt.text[:0], t.attempt.reasoning[:0]
	t.turnState = turnState{}
	t.attempt.text, t.attempt.reasoning = text, reasoning
	t.group.reset()
	t.forgetSubagents()
	t.side.take()
}

// Run runs one turn to its end and hands each event to emit, which may be nil; events come one after another, on the
// goroutine that called Run. A turn that is started while another one runs waits for it, in the order of the calls. ctx
// cancels the turn, which then ends as interrupted with everything stored.
//
// The error says why the turn could not start: ErrBlank, ErrThreadClosed, an unknown model, an image or a log that cannot
// be stored, or the error of ctx. A turn that ran has a nil error, whatever its stop reason.
func (t *Thread) Run(ctx context.Context, in Input, emit func(Event)) (Result, error) {
	if err := in.check(); err != nil {
		return Result{}, err
	}
	if err := t.enter(ctx); err != nil {
		return Result{}, err
	}
	defer t.leave()
	r := t.turn
	r.reset()
	defer r.reset()
	r.fixed, r.emit = in.Instructions, emit
	r.limits = in.Limits.or(t.kernel.config.Limits).or(defaultLimits)
	t.mu.Lock()
	r.mode, r.ref, r.gear = or(in.Mode, t.mode), or(in.Model, t.model), or(in.Gear, t.gear)
	t.mu.Unlock()
	ctx, cancel := r.context(ctx)
	defer cancel()
	defer t.interruptible(nil)
	r.cancel = cancel
	if err := r.start(ctx, &in); err != nil {
		return Result{}, err
	}
	return r.run(ctx), nil
}

func or(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

// enter waits until it is the caller's turn to use the thread. leave gives it back.
func (t *Thread) enter(ctx context.Context) error {
	select {
	case t.busy <- struct{}{}:
	default:
		select {
		case t.busy <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := ctx.Err()
	t.mu.Lock()
	if t.closed {
		err = ErrThreadClosed
	}
	t.mu.Unlock()
	if err != nil {
		t.leave()
	}
	return err
}

func (t *Thread) leave() { <-t.busy }

// context is the context of the turn: it ends with ctx, when the time of the turn is used up, and when the kernel stops.
func (t *turn) context(ctx context.Context) (context.Context, context.CancelFunc) {
	var cancel context.CancelFunc
	ctx = context.WithValue(ctx, turnKey{}, t.thread)
	if t.limits.Duration > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, t.limits.Duration, errDuration)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	t.thread.interruptible(cancel)
	return ctx, cancel
}

var errDuration = errors.New("kernel: the time of the turn is used up")

// start brings the turn to the point where it exists: the user message is stored. A turn that cannot start leaves no
// trace in the log.
func (t *turn) start(ctx context.Context, in *Input) error {
	th := t.thread
	t.id = th.nextTurn()
	accepted := &struct { // one piece of memory for both
		record threadlog.Turn
		item   model.Item
	}{}
	item := &accepted.item
	err := t.message(ctx, in, item)
	if err == nil {
		r := &t.plan.request
		accepted.record = threadlog.Turn{
			Turn: t.id, Mode: t.mode, Provider: r.Provider, Model: r.Model, Approval: th.Approval(), Item: item,
		}
		if err = th.log.Append(&accepted.record); err != nil {
			err = fmt.Errorf("kernel: store the user message: %w", err)
		}
	}
	if err != nil {
		th.turns--
		return err
	}
	t.text = item.Text
	th.mu.Lock()
	th.mode, th.model, th.gear = t.mode, t.ref, t.gear
	th.mu.Unlock()
	th.meter.Add(estimate.Item(item, t.sends()))
	t.result = Result{Turn: t.id, Window: t.plan.request.ContextWindow}
	return nil
}

// message finds the model and makes the user message.
func (t *turn) message(ctx context.Context, in *Input, item *model.Item) error {
	if err := t.plan.prepareClient(ctx, t); err != nil {
		return err
	}
	if err := t.userItem(in, item); err != nil {
		return err
	}
	return t.hookMessage(ctx, item)
}

// hookMessage runs the hooks of the user message: each sees what the one before left, and blank is refused.
func (t *turn) hookMessage(ctx context.Context, item *model.Item) error {
	entries := hook.UserMessages.Entries(t.kernel.registry.View(), contrib.ThreadID(t.thread.id))
	if len(entries) == 0 || t.thread.child != nil {
		return nil
	}
	scope := t.thread.scope(t.id)
	shown := threadlog.PlainMarkers(item.Text)
	text, err := contrib.Fold(ctx, entries, shown, func(ctx context.Context, h hook.UserMessage, text string) (string, error) {
		next, ok, err := h.UserMessage(ctx, scope, text)
		next = strings.TrimSpace(next)
		if err != nil || !ok || next == "" {
			return text, err
		}
		return next, nil
	}, t.report, contrib.Forwards)
	if err == nil && text != shown {
		replaceText(item, text)
	}
	return err
}

// run takes a stored turn to its end.
func (t *turn) run(ctx context.Context) Result {
	th, r := t.thread, &t.plan.request
	if t.listening() {
		t.send(TurnStarted{Turn: t.id, Thread: th.id, Mode: t.mode, Provider: r.Provider, Model: r.Model, Text: t.text})
	}
	for _, n := range th.takeNotes() {
		t.send(n)
	}
	t.observeStart(ctx)
	t.result.Stop, t.result.Err = t.contained(ctx)
	t.finish(ctx)
	return t.result
}

// contained runs the rounds. A panic of the host's own code fails the turn, with its stack in the log; that of a listener
// is the listener's.
func (t *turn) contained(ctx context.Context) (stop StopReason, err error) {
	defer func() {
		if t.emitted {
			return
		}
		if p := recover(); p != nil {
			t.kernel.log.Error("a turn panicked", "thread", t.thread.id, "turn", t.id, "panic", p, "stack", string(debug.Stack()))
			stop, err = Failed, errPanic
		}
	}()
	stop, err = t.rounds(ctx)
	if ctx.Err() == nil || stop == Completed || stop == Failed {
		return stop, err
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, errDuration) {
		return DurationLimitReached, cause
	}
	return Interrupted, cause
}

var errPanic = errors.New("kernel: the turn failed for a reason inside the host; the log file has it")
