package generations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Steps of an activation, in their order.
const (
	StepConstruct  = "construct"  // run the constructors
	StepContribute = "contribute" // they have returned, and what they contribute is staged
	StepStart      = "start"      // run the start hooks
	StepSeal       = "seal"       // refuse further adds, exports and imports
	StepAdmit      = "admit"      // ask Config.Admit
	StepCommit     = "commit"     // decide against the timer, and publish
	StepWork       = "work"       // start the background work
)

// stepTimeout is the step of an error that the timer caused.
const stepTimeout = "timeout"

// How an activation is decided. Whoever swaps undecided away has decided.
const (
	undecided int32 = iota
	committed
	failed
	timedOut
)

// activation is one run of the transaction.
type activation struct {
	config   Config
	parts    *parts
	teardown *Teardown
	state    atomic.Int32
	deadline time.Time
	verdict  chan *ActivationError // nil: committed. One value, unless the timer has won
}

// Activate builds, starts, seals and commits a generation, and starts its background work. Either all of it happens, or
// the error is an [ActivationError] and everything is rolled back: nothing of it was ever in a view. A Config that
// cannot work is another error; then nothing was done.
//
// The activation timeout bounds the wait. When the timer wins against the commit, Activate returns [ErrTimeout] although
// the code still runs. Its contexts are cancelled; when it returns it can only be rolled back.
//
// ctx gives values to the log, but neither a deadline nor a cancellation, for what has begun runs to its end. The caller makes sure that a plugin
// has one generation at a time.
func Activate(ctx context.Context, c Config) (*Generation, error) {
	origin, err := c.complete()
	if err != nil {
		return nil, err
	}
	core := newCore(origin, c.Logger)
	p := &parts{core: core, home: newHome(core), lifetime: newLifetime(core, c.OnFault), gates: c.Gates, onDrop: c.OnDrop}
	p.staging = c.Registry.Stage(origin, p.home)
	a := &activation{
		config:   c,
		parts:    p,
		teardown: p.teardown(),
		deadline: time.Now().Add(c.Timeout),
		verdict:  make(chan *ActivationError, 1),
	}
	expired := make(chan struct{})
	timer := time.AfterFunc(c.Timeout, func() { close(expired) })
	defer timer.Stop()
	go a.run()

	failure, late := a.wait(ctx, expired, core)
	if failure != nil {
		if !late {
			select { // a rollback counts against the timeout too
			case <-a.teardown.done:
			case <-expired:
			}
		}
		return nil, failure
	}
	g := &Generation{plugin: c.Plugin, id: c.ID, gate: core.gate, refused: p.staging.Refused(), parts: p}
	if c.OnCommit != nil {
		c.OnCommit(g)
	}
	if err := a.failpoint(StepWork); err != nil {
		p.lifetime.failure(StepWork)
	}
	p.lifetime.start()
	return g, nil
}

// wait waits for the decision. late says that the timer made it.
func (a *activation) wait(ctx context.Context, expired <-chan struct{}, c *core) (failure *ActivationError, late bool) {
	select {
	case failure = <-a.verdict:
		return failure, false
	case <-expired:
	}
	if !a.state.CompareAndSwap(undecided, timedOut) {
		return <-a.verdict, false
	}
	c.signal()
	c.log.ErrorContext(ctx, "activation timed out", c.attrs(stepTimeout)...)
	return a.error(stepTimeout, ErrTimeout), true
}

// run is the transaction, on a goroutine of the host.
func (a *activation) run() {
	setGoroutineLabels(nil) // the caller may be plugin code
	failure := a.build()
	if failure == nil {
		failure = a.decide()
	}
	if failure == nil {
		a.verdict <- nil
		return
	}
	// After a commit that could not publish, the state is committed and the timer has lost already.
	if a.state.CompareAndSwap(undecided, failed) || a.state.Load() == committed {
		a.verdict <- failure
	}
	a.parts.begin(contrib.StopFault)
	a.parts.finish(a.teardown)
}

// build runs the code of the plugin.
func (a *activation) build() *ActivationError {
	c := a.parts.core
	ctx, cancel := context.WithDeadline(c.stop, a.deadline)
	defer cancel()

	if err := a.failpoint(StepConstruct); err != nil {
		return a.error(StepConstruct, ErrFailed, err)
	}
	var app App
	scope := &Scope{Lifetime: a.parts.lifetime, Registrar: a.parts.staging.Registrar()}
	if err := c.contain(StepConstruct, func() (err error) { app, err = a.config.Build(ctx, scope); return err }); err != nil {
		return a.broken(StepConstruct, err)
	}
	if err := a.failpoint(StepContribute); err != nil {
		return a.error(StepContribute, ErrFailed, err)
	}
	if err := a.failpoint(StepStart); err != nil {
		return a.error(StepStart, ErrFailed, err)
	}
	if app == nil {
		return nil
	}
	err := c.contain(StepStart, func() error { return app.Start(ctx) })
	if err == nil || errors.Is(err, errPanic) {
		a.parts.app = app // an app that fails to start stops what it had started; one that panicked does not
	}
	if err != nil {
		return a.broken(StepStart, err)
	}
	return nil
}

// decide seals, asks, and commits.
func (a *activation) decide() *ActivationError {
	if err := a.failpoint(StepSeal); err != nil {
		return a.error(StepSeal, ErrFailed, err)
	}
	a.parts.staging.Seal()
	if err := ask(a.config.OnSeal); err != nil {
		return a.error(StepSeal, ErrRefused, err)
	}
	if a.state.Load() != undecided {
		return a.error(stepTimeout, ErrTimeout)
	}
	if err := a.failpoint(StepAdmit); err != nil {
		return a.error(StepAdmit, ErrFailed, err)
	}
	if err := ask(a.config.Admit); err != nil {
		return a.error(StepAdmit, ErrRefused, err)
	}
	if err := a.failpoint(StepCommit); err != nil {
		return a.error(StepCommit, ErrFailed, err)
	}
	if !a.state.CompareAndSwap(undecided, committed) {
		return a.error(stepTimeout, ErrTimeout)
	}
	a.parts.gates.put(a.parts.core)
	if err := a.parts.staging.Commit(); err != nil {
		return a.error(StepCommit, ErrFailed, err)
	}
	return nil
}

func (a *activation) failpoint(step string) error {
	if a.config.Failpoint == nil {
		return nil
	}
	return protect(func() error { return a.config.Failpoint(step) })
}

// broken is the error of plugin code that failed.
func (a *activation) broken(step string, err error) *ActivationError {
	if errors.Is(err, errPanic) {
		return a.error(step, ErrFailed, ErrPanic)
	}
	return a.error(step, ErrFailed, err)
}

func (a *activation) error(step string, errs ...error) *ActivationError {
	return &ActivationError{Plugin: a.config.Plugin, Generation: a.config.ID, Step: step, Rollback: a.teardown, errs: errs}
}

// ask calls a check of the host that may be absent.
func ask(check func() error) error {
	if check == nil {
		return nil
	}
	return protect(check)
}

// protect turns a panic in code of the host into an error, so that a transaction is rolled back and a teardown goes on.
func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("generations: a function of the host panicked: %v", p)
		}
	}()
	return f()
}

func errorAttr(err error) slog.Attr { return slog.String("error", fmt.Sprint(err)) }
