package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/pump"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/trace"
)

// Errors of threads and turns.
var (
	// ErrBlank is returned for a user message without text.
	ErrBlank = errors.New("kernel: the user message is blank")
	// ErrThreadClosed is returned for a thread that was closed.
	ErrThreadClosed = errors.New("kernel: the thread is closed")
	// ErrThreadOpen is returned when a thread is opened that this kernel has open already.
	ErrThreadOpen = errors.New("kernel: the thread is open already")
	// ErrStopped is returned by a kernel that was stopped.
	ErrStopped = errors.New("kernel: stopped")
	// ErrMode is returned for a mode other than work and plan.
	ErrMode = errors.New("kernel: unknown mode")
	// ErrApproval is returned for an unknown approval mode.
	ErrApproval = errors.New("kernel: unknown approval mode")
)

// Kernel runs threads. It is safe for use by several goroutines.
type Kernel struct {
	registry   *contrib.Registry
	config     Config
	store      threadlog.Store
	models     Models
	dispatcher *dispatcher.Dispatcher
	approval   *approval.Stage
	log        *slog.Logger
	signals    *pump.Pump[thread.SignalObserver, thread.Signal]
	traces     *pump.Pump[trace.Sink, trace.Event]
	live       *composer.Live
	memory     agent.Source // for a registry without the built-in one
	outside    failures     // failures outside of turns

	commandNotes commandNotes

	planned atomic.Pointer[toolPlan] // the last pass that serves other threads too

	mu          sync.Mutex
	threads     map[string]*Thread
	environment atomic.Pointer[host.Environment] // the catalogs as they were attached last; nil: never
	facts       model.Facts                      // nil: none are told

	stopped   bool
	lost      map[lostName]bool
	contested map[uint64]bool // placeholders that were noted because another one keeps their name
}

// Parts are what a kernel is made of. Module takes them from the fx graph; a test may fill them in by hand.
type Parts struct {
	Registry   *contrib.Registry
	Config     Config
	Store      threadlog.Store
	Models     Models
	Dispatcher *dispatcher.Dispatcher
	Approval   *approval.Stage
	Live       *composer.Live // what the built-in prompt sections of the registry look into; nil: they are not there
}

// New makes a kernel of its parts. Stop ends it.
func New(p Parts) *Kernel {
	k := &Kernel{
		registry: p.Registry, config: p.Config, store: p.Store, models: p.Models, dispatcher: p.Dispatcher, approval: p.Approval,
		log: p.Config.Logger, live: p.Live, threads: map[string]*Thread{}, contested: map[uint64]bool{}, lost: map[lostName]bool{},
	}
	if k.log == nil {
		k.log = slog.Default()
	}
	k.config.Profiles = k.workspaceProfiles(p.Config.Profiles)
	if k.live == nil {
		k.live = composer.NewLive()
	}
	k.memory = composer.Memory(k.registry, k.live)
	if k.approval != nil {
		k.approval.Watch(prompts{k})
	}
	k.signals = pump.New(pump.Config[thread.SignalObserver, thread.Signal]{
		Queue: thread.SignalQueue, Report: k.report,
		Deliver: func(ctx context.Context, o thread.SignalObserver, s thread.Signal) error { return o.Signal(ctx, s) },
	})
	k.traces = pump.New(pump.Config[trace.Sink, trace.Event]{
		Queue: trace.Queue, Report: k.report,
		Deliver: func(ctx context.Context, s trace.Sink, e trace.Event) error { return s.Record(ctx, e) },
	})
	return k
}

// Registry returns the registry whose points this kernel reads.
func (k *Kernel) Registry() *contrib.Registry { return k.registry }

// Options of a new thread.
type Options struct {
	Workspace string // absolute path; blank: none
	Mode      string // work or plan; blank: work
	Model     string // provider/model; blank: the host's choice
	Approval  string // approval mode; blank: default
	Gear      string // thinking gear; blank: the model's default
}

// Create begins a thread. Nothing is stored before its first turn. Observers of threads and sessions are told.
func (k *Kernel) Create(ctx context.Context, o Options) (*Thread, error) {
	if o.Mode == "" {
		o.Mode = ModeWork
	}
	if err := checkOptions(o); err != nil {
		return nil, err
	}
	log, err := k.store.Create(ctx, threadlog.Header{Workspace: o.Workspace, Mode: o.Mode, Version: k.config.Version})
	if err != nil {
		return nil, fmt.Errorf("kernel: create a thread: %w", err)
	}
	t, err := k.adopt(log, o, nil)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return t, t.begin(ctx, false)
}

// Open opens a stored thread for writing. Its workspace, mode and model are its own; o gives the approval mode, and
// replaces mode and model where it names them. What the log had to be told to the operator is returned as notes of the
// first turn.
func (k *Kernel) Open(ctx context.Context, id string, o Options) (*Thread, error) {
	log, notes, err := k.store.Open(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("kernel: open thread %s: %w", id, err)
	}
	s := log.State()
	o.Workspace = s.Thread.Workspace
	if o.Mode == "" {
		o.Mode = s.Mode
	}
	if o.Mode == "" {
		o.Mode = ModeWork
	}
	if o.Model == "" && s.Provider != "" {
		o.Model = s.Provider + "/" + s.Model
	}
	if err := checkOptions(o); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	t, err := k.adopt(log, o, nil)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	for _, n := range notes {
		t.notes = append(t.notes, Noted{Code: n.Code, Severity: contrib.Warning, Message: n.Message})
	}
	return t, t.begin(ctx, true)
}

func checkOptions(o Options) error {
	if o.Mode != ModeWork && o.Mode != ModePlan {
		return fmt.Errorf("%w %q: it is work or plan", ErrMode, o.Mode)
	}
	return checkApproval(o.Approval)
}

// adopt makes a thread known; c makes it that of a subagent.
func (k *Kernel) adopt(log *threadlog.Log, o Options, c *child) (*Thread, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.stopped:
		return nil, ErrStopped
	case k.threads[log.ID()] != nil:
		return nil, fmt.Errorf("%w: %s", ErrThreadOpen, log.ID())
	}
	t := newThread(k, log, o, c)
	k.threads[t.id] = t
	return t, nil
}

// Threads is the store of the kernel's threads.
func (k *Kernel) Threads() threadlog.Store { return k.store }

// Stop interrupts the running turns, closes every open thread and ends the delivery of signals and traces. ctx bounds the
// wait for the turns. Later calls of Create and Open fail with ErrStopped.
func (k *Kernel) Stop(ctx context.Context) error {
	k.mu.Lock()
	k.stopped = true
	open := make([]*Thread, 0, len(k.threads))
	for _, t := range k.threads {
		open = append(open, t)
	}
	k.mu.Unlock()
	for _, t := range open {
		t.mu.Lock()
		if t.interrupt != nil {
			t.interrupt()
		}
		t.mu.Unlock()
	}
	var errs []error
	for _, t := range open {
		errs = append(errs, t.Close(ctx))
	}
	flush, cancel := context.WithTimeout(ctx, traceFlush)
	defer cancel()
	// What the sinks cannot take in that time is dropped, as it is whenever delivery is cancelled.
	_ = k.traces.Flush(flush)
	k.signals.Stop()
	k.traces.Stop()
	return errors.Join(errs...)
}

// traceFlush is how long a stopping kernel waits for its trace sinks.
const traceFlush = time.Second

// report handles a failure outside of turns: once for each plugin, point and cause. The others are for who looks closely.
func (k *Kernel) report(e *contrib.EntryInfo, c *contrib.CallError) {
	attrs := []any{"point", c.Point, "origin", e.Origin.String(), "label", e.Label, "cause", string(c.Cause), "rule", c.Rule}
	if err := errors.Unwrap(c); err != nil { // of the host's own; a plugin's is logged where it is called
		attrs = append(attrs, "error", err)
	}
	first, level := k.outside.first(e, c), slog.LevelDebug
	if first {
		level = slog.LevelWarn
	}
	k.log.Log(context.Background(), level, "contribution failed", attrs...)
	if first {
		n := callFailed(e, c)
		k.registry.Record(contrib.Diagnostic{
			Code: n.Code, Severity: n.Severity, Point: n.Point, EntryID: e.ID, Origin: e.Origin, Message: n.Message, Params: n.Params,
		})
	}
}

// Signal publishes a signal on behalf of the host, for what the kernel does not know of: a client asks the operator
// something (thread.UserInputRequested, thread.UserInputResolved), or takes a thread back (thread.HistoryRolledBack). The
// kernel publishes the others itself. Publishing never waits. A zero Time is now.
func (k *Kernel) Signal(s thread.Signal) {
	entries := thread.Signals.Entries(k.registry.View(), contrib.ThreadID(s.Thread))
	if len(entries) == 0 {
		return
	}
	if s.Time.IsZero() {
		s.Time = time.Now()
	}
	k.signals.Publish(entries, s, k.signalLive)
}

// signal publishes a signal of a thread.
func (k *Kernel) signal(kind thread.SignalKind, t *Thread, turn, call string) {
	k.Signal(thread.Signal{Kind: kind, Thread: t.id, Turn: turn, CallID: call})
}

// signalLive reports whether an entry that this thread does not see belongs to another open thread.
func (k *Kernel) signalLive(id uint64) bool {
	v := k.registry.View()
	k.mu.Lock()
	defer k.mu.Unlock()
	for t := range k.threads {
		for _, e := range thread.Signals.Entries(v, contrib.ThreadID(t)) {
			if e.ID == id {
				return true
			}
		}
	}
	return false
}

// trace hands an event of a turn to the trace sinks.
func (k *Kernel) trace(t *turn, e Event) {
	entries := trace.Sinks.Entries(k.registry.View(), "")
	if len(entries) == 0 || t.thread.child != nil { // those of a subagent come through the turn that started it
		return
	}
	data, err := MarshalEvent(e)
	if err != nil {
		k.log.Error("an event has no JSON form", "type", e.Type(), "error", err)
		return
	}
	k.traces.Publish(entries, trace.Event{Type: e.Type(), Thread: t.thread.id, Turn: t.id, Time: time.Now(), Data: data}, nil)
}
