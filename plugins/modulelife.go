package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// moduleLife gives a module the lifetime that a generation has. It is a generation without contributions whose activation
// lasts from the construction of the host's app to its start, and whose own app stops when the module has stopped. It is
// made when a constructor asks for the lifetime.
type moduleLife struct {
	id         string
	logger     *slog.Logger
	shutdowner fx.Shutdowner

	life   *generations.Lifetime
	signal *moduleSignals         // nil until somebody asks for the lifetime
	failed atomic.Pointer[string] // background work that failed

	mu       sync.Mutex
	running  *generations.Generation
	teardown *generations.Teardown
}

// moduleSignals is what the activation that waits for the start of an app shares with the module. Nothing in it leads to
// the app: when an app is thrown away without a start, its collection ends the wait.
type moduleSignals struct {
	started chan struct{} // the app starts
	gone    chan struct{} // the app was not started and never will be
	left    sync.Once
	done    chan activated
	idle    chan struct{} // work has ended, and the stop hooks of the module may run
	stopped chan struct{} // they have run
	fault   atomic.Pointer[func(work string)]
}

type activated struct {
	generation *generations.Generation
	err        error
}

// moduleTimeout bounds the construction of an app. Only a generation of a runtime is held to a limit.
const moduleTimeout = 100 * 365 * 24 * time.Hour

func newModuleLife(id string) func(moduleHost, fx.Shutdowner) *moduleLife {
	return func(in moduleHost, s fx.Shutdowner) *moduleLife {
		return &moduleLife{id: id, logger: in.Options.logger(), shutdowner: s}
	}
}

// lifetime begins the activation and returns its lifetime.
func (l *moduleLife) lifetime() (*generations.Lifetime, error) {
	registry, err := contrib.New()
	if err != nil {
		return nil, fmt.Errorf("plugins: lifetime of module %q: %w", l.id, err)
	}
	s := &moduleSignals{
		started: make(chan struct{}), gone: make(chan struct{}), done: make(chan activated, 1),
		idle: make(chan struct{}), stopped: make(chan struct{}),
	}
	made := make(chan *generations.Lifetime, 1)
	config := generations.Config{
		Plugin: l.id, ID: ModuleGeneration, Registry: registry, Logger: l.logger, Timeout: moduleTimeout,
		Build: func(_ context.Context, scope *generations.Scope) (generations.App, error) {
			made <- scope.Lifetime
			select {
			case <-s.started:
				return moduleApp{s}, nil
			case <-s.gone:
				return nil, errNeverStarted
			}
		},
		OnFault: func(work string) {
			if fault := s.fault.Load(); fault != nil {
				(*fault)(work)
			}
		},
	}
	go func() {
		g, err := generations.Activate(context.Background(), config)
		s.done <- activated{g, err}
	}()
	l.signal, l.life = s, <-made
	runtime.AddCleanup(l, (*moduleSignals).leave, s)
	return l.life, nil
}

// moduleApp stands for the module in its generation: it has stopped when the stop hooks of the module have run.
type moduleApp struct{ *moduleSignals }

// Start implements generations.App.
func (a moduleApp) Start(context.Context) error { return nil }

// Stop implements generations.App.
func (a moduleApp) Stop(context.Context) error {
	close(a.idle)
	<-a.stopped
	return nil
}

// start starts the background work.
func (l *moduleLife) start() error {
	if l.signal == nil {
		return nil
	}
	fault := l.fault
	l.signal.fault.Store(&fault)
	close(l.signal.started)
	a := <-l.signal.done
	if a.err != nil {
		return fmt.Errorf("plugins: start the lifetime of module %q: %w", l.id, a.err)
	}
	l.mu.Lock()
	l.running = a.generation
	l.mu.Unlock()
	return nil
}

// fault shuts the app down: background work has failed.
func (l *moduleLife) fault(work string) {
	if !l.failed.CompareAndSwap(nil, &work) {
		return
	}
	l.logger.Error("background work of a module failed", "plugin", l.id, "work", work)
	if err := l.shutdowner.Shutdown(fx.ExitCode(1)); err != nil {
		l.logger.Error("shut the app down", "plugin", l.id, "error", err)
	}
}

// stop cancels the lifetime and waits for its work.
func (l *moduleLife) stop(ctx context.Context) error {
	l.mu.Lock()
	g := l.running
	l.mu.Unlock()
	if g == nil {
		return nil
	}
	t := g.Stop(contrib.StopShutdown)
	l.mu.Lock()
	l.teardown = t
	l.mu.Unlock()
	select {
	case <-l.signal.idle:
	case <-ctx.Done():
		return fmt.Errorf("plugins: stop module %q: its background work has not ended: %w", l.id, ctx.Err())
	}
	if work := l.failed.Load(); work != nil {
		return fmt.Errorf("plugins: module %q: %w: %s", l.id, ErrWorkFailed, *work)
	}
	return nil
}

// close closes what the lifetime owns. It runs after the stop hooks of the module.
func (l *moduleLife) close(ctx context.Context) error {
	if l.signal == nil {
		return nil
	}
	close(l.signal.stopped)
	l.mu.Lock()
	t := l.teardown
	l.mu.Unlock()
	if t == nil {
		return l.abandon()
	}
	select {
	case <-t.Done():
	case <-ctx.Done():
		return fmt.Errorf("plugins: stop module %q: %w", l.id, ctx.Err())
	}
	var failures []error
	for _, failure := range t.Errors() {
		failures = append(failures, failure)
	}
	return errors.Join(failures...)
}

// abandon ends the activation of an app whose start failed before it came to this module: what the lifetime owns is
// closed by the rollback.
func (l *moduleLife) abandon() error {
	select {
	case <-l.signal.started:
		return nil // its own start failed, and was rolled back
	default:
	}
	l.signal.leave()
	a := <-l.signal.done
	var failure *generations.ActivationError
	if errors.As(a.err, &failure) && failure.Rollback != nil {
		<-failure.Rollback.Done()
	}
	return nil
}

// leave says that the app will not be started.
func (s *moduleSignals) leave() { s.left.Do(func() { close(s.gone) }) }

var errNeverStarted = errors.New("plugins: the app of the module was not started")
