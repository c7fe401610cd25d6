package kernel

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/thread"
)

// The modes of a turn.
const (
	ModeWork = "work"
	ModePlan = "plan"
)

// Thread is an open conversation. One turn runs at a time; a turn that is started while another one runs waits for it.
// Methods may be called from several goroutines.
type Thread struct {
	kernel    *Kernel
	log       *threadlog.Log
	id        string
	workspace string
	approval  atomic.Pointer[string]
	child     *child        // of a subagent; nil for a thread of its own
	busy      chan struct{} // holds a token while a turn runs

	mu        sync.Mutex
	mode      string
	model     string
	gear      string
	found     []string // canonical names of deferred tools, in the order in which searches found them
	closed    bool
	notes     []Noted            // for the next turn
	interrupt context.CancelFunc // ends the running turn; nil between turns

	// Below: owned by who entered the thread.
	turns    int
	recalled bool     // told was read from the transcript
	told     []string // wire names of deferred tools that searches of the transcript found and that are not there yet
	turn     *turn
	plan     plan
	prompts  *composer.Thread
	meter    estimate.Meter
	counter  estimate.Counter
	sessions []uint64 // entries of hook.session that know of the session
}

func newThread(k *Kernel, log *threadlog.Log, o Options, c *child) *Thread {
	t := &Thread{
		kernel: k, log: log, id: log.ID(), workspace: o.Workspace, mode: o.Mode, model: o.Model, gear: o.Gear,
		busy: make(chan struct{}, 1), turns: log.State().Turns, prompts: k.live.Open(log.ID()), child: c,
	}
	if c != nil {
		c.thread = t
	}
	mode := o.Approval
	if mode == "" {
		mode = ApprovalDefault
	}
	t.approval.Store(&mode)
	t.turn = newTurn(t)
	return t
}

// ID returns the thread's id.
func (t *Thread) ID() string { return t.id }

// Workspace returns the directory that the thread works in.
func (t *Thread) Workspace() string { return t.workspace }

// Log returns the thread's log, for readers.
func (t *Thread) Log() *threadlog.Log { return t.log }

// Approval returns the approval mode.
func (t *Thread) Approval() string {
	if t.child != nil { // it has that of the thread that started it
		return t.child.parent.thread.Approval()
	}
	return *t.approval.Load()
}

// The approval modes.
const (
	ApprovalDefault = "default" // reading passes, everything else asks
	ApprovalEdit    = "edit"    // file edits in the workspace pass too
	ApprovalReview  = "review"  // edits pass, the rest goes to the reviewer
	ApprovalAudit   = "audit"   // everything that is not reading goes to the reviewer
	ApprovalFull    = "full"    // everything in the workspace passes
)

// SetApproval changes the approval mode, from the next call on. It fails with ErrApproval for an unknown mode.
func (t *Thread) SetApproval(mode string) error {
	if err := checkApproval(mode); err != nil {
		return err
	}
	if mode == "" {
		mode = ApprovalDefault
	}
	t.approval.Store(&mode)
	return nil
}

func checkApproval(mode string) error {
	switch mode {
	case "", ApprovalDefault, ApprovalEdit, ApprovalReview, ApprovalAudit, ApprovalFull:
		return nil
	}
	return fmt.Errorf("%w %q: it is default, edit, review, audit or full", ErrApproval, mode)
}

// SetModel chooses another model, from the next turn on.
func (t *Thread) SetModel(ref string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.model = ref
}

// RefreshContext has the pages of prompt.thread_context built again for the next turn.
func (t *Thread) RefreshContext() { t.prompts.Refresh() }

func (t *Thread) info() thread.Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.log.State()
	return thread.Info{ID: t.id, Workspace: t.workspace, Mode: t.mode, Parent: parent(&s)}
}

func (t *Thread) scope(turn string) hook.Scope {
	return hook.Scope{Thread: t.id, Turn: turn, Workspace: t.workspace, Agent: t.agent()}
}

// interruptible says how the running turn is ended from outside of it.
func (t *Thread) interruptible(cancel context.CancelFunc) {
	t.mu.Lock()
	t.interrupt = cancel
	t.mu.Unlock()
}

// begin tells the observers that the thread is there.
func (t *Thread) begin(ctx context.Context, resumed bool) error {
	info := t.info()
	err := t.kernel.observe(ctx, t.id, func(ctx context.Context, o thread.Observer) error {
		if resumed {
			return o.Resumed(ctx, info)
		}
		return o.Started(ctx, info)
	})
	if err == nil {
		// Entries that an observer added for this thread are there already.
		v := t.kernel.registry.View()
		s := hook.Session{Scope: t.scope(""), Approval: t.Approval()}
		t.sessions = told(ctx, hook.Sessions.Entries(v, contrib.ThreadID(t.id)), func(ctx context.Context, o hook.SessionObserver) error {
			return o.SessionStarted(ctx, s)
		}, t.kernel.report)
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(err, t.Close(context.WithoutCancel(ctx)))
	}
	return nil
}

// Close ends the thread's session in this process: it waits for the running turn, runs the session hooks and closes the
// log. Those hooks are told that were told of the start. Idempotent. ctx bounds the wait for the turn alone.
func (t *Thread) Close(ctx context.Context) error {
	switch err := t.enter(ctx); {
	case errors.Is(err, ErrThreadClosed):
		return nil
	case err != nil:
		return fmt.Errorf("kernel: close thread %s: %w", t.id, err)
	}
	defer t.leave()
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	k := t.kernel
	s := hook.Session{Scope: t.scope(""), Approval: t.Approval()}
	entries := among(hook.Sessions.Entries(k.registry.View(), contrib.ThreadID(t.id)), t.sessions)
	err := contrib.FanOut(context.WithoutCancel(ctx), entries, func(ctx context.Context, o hook.SessionObserver) error {
		return o.SessionEnded(ctx, s)
	}, k.report)
	if k.approval != nil {
		k.approval.EndSession(t.id)
	}
	k.live.Close(t.id)
	k.mu.Lock()
	delete(k.threads, t.id)
	k.mu.Unlock()
	return errors.Join(err, t.log.Close())
}

// nextTurn gives the next turn its id.
func (t *Thread) nextTurn() string {
	t.turns++
	var b [20]byte
	return string(strconv.AppendInt(append(b[:0], 't'), int64(t.turns), 10))
}

// takeNotes returns what has to be told with the next turn.
func (t *Thread) takeNotes() []Noted {
	t.mu.Lock()
	defer t.mu.Unlock()
	notes := t.notes
	t.notes = nil
	return notes
}
