package generations

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// ErrStopping is the cause of a context that ended because the generation was told to stop.
var ErrStopping = errors.New("generations: stopping")

// Gate admits calls into a generation.
type Gate struct{}

// NewGate returns an open gate.
func NewGate() *Gate { panic("stub") }

// Enter gives a lease while the gate is open. It never blocks.
func (g *Gate) Enter() (*Lease, bool) { panic("stub") }

// Close closes the gate.
func (g *Gate) Close() { panic("stub") }

// Closed reports whether the gate is closed.
func (g *Gate) Closed() bool { panic("stub") }

// Drained is closed when the gate is closed and nobody is inside.
func (g *Gate) Drained() <-chan struct{} { panic("stub") }

// Lease is one call inside.
type Lease struct{}

// Release ends the call. Idempotent.
func (l *Lease) Release() { panic("stub") }

// Ref is a plugin's value as a guard may hold it: the value is reachable through the gate only, and the generation
// empties the slot when it stops.
type Ref[T any] struct{}

// Bind moves value behind ref. ref is what contrib handed to the guard.
func Bind[T any](ref contrib.Ref, value T) *Ref[T] { panic("stub") }

// Origin returns who added the entry.
func (r *Ref[T]) Origin() contrib.Origin { panic("stub") }

// Live reports whether a call would be admitted now.
func (r *Ref[T]) Live() bool { panic("stub") }

// Hold enters the gate and returns the value with its lease: for answers that outlive one call, such as streams.
// ok is false when unavailable.
func (r *Ref[T]) Hold() (value T, lease *Lease, ok bool) { panic("stub") }

// Do calls fn with the value as lifecycle.md 4 says: lease, a context of its own, labels, panic, the entry's deadline
// (with a goroutine of its own), and returns contrib.ErrUnavailable, the caller's context error, or a
// *contrib.CallError. An error of fn is logged and becomes a CallError with CauseError unless it is itself a
// *contrib.CallError.
func (r *Ref[T]) Do(ctx context.Context, fn func(ctx context.Context, v T) error) error { panic("stub") }

// DoWithin is Do with another deadline; zero means none.
func (r *Ref[T]) DoWithin(ctx context.Context, d time.Duration, fn func(ctx context.Context, v T) error) error {
	panic("stub")
}

// Call is Do with a result. A late result is dropped.
func Call[T, R any](ctx context.Context, r *Ref[T], fn func(ctx context.Context, v T) (R, error)) (R, error) {
	panic("stub")
}

// CallWithin is Call with another deadline; zero means none.
func CallWithin[T, R any](ctx context.Context, r *Ref[T], d time.Duration, fn func(ctx context.Context, v T) (R, error)) (R, error) {
	panic("stub")
}

// Refuse is the failure of an entry that returned something its contract forbids; rule says which rule.
func (r *Ref[T]) Refuse(rule string) *contrib.CallError { panic("stub") }

// Siblings returns the live values of the same point and generation, in order of registration: what a proxy needs to
// resolve an opaque token again.
// (tool sources are asked again at every call)

// Lifetime owns the resources and the background work of one generation.
type Lifetime struct{}

// Own closes closer at teardown, newest first; it accepts Close() error and Close(context.Context) error.
func (l *Lifetime) Own(closer any) error { panic("stub") }

// OnClose is Own for a function.
func (l *Lifetime) OnClose(name string, fn func(context.Context) error) error { panic("stub") }

// Go runs background work.
func (l *Lifetime) Go(name string, fn func(context.Context) error) error { panic("stub") }

// Context is cancelled when the generation is told to stop, with cause ErrStopping.
func (l *Lifetime) Context() context.Context { panic("stub") }

// App is what a generation is made of: the fx app of a plugin's module.
type App interface {
	Start(context.Context) error
	Stop(context.Context) error
}

// Scope is what the builder of an app gets.
type Scope struct {
	Lifetime  *Lifetime
	Registrar *contrib.Registrar
}

// Context carries the generation's labels and keeps its root reachable, for what the builder makes itself.
// Fault counts as a failure of background work named work: what a call of the app's own shutdowner does. It never
// blocks; before the commit it is remembered and told after it.
func (s *Scope) Fault(work string) { panic("stub") }

// Pin wraps v (a logger's handler, settings) hands out nothing itself: it returns a value that keeps the generation's
// root reachable; put it into everything of the host that plugin code is given (lifecycle.md 9.4).
func (s *Scope) Pin() any { panic("stub") }

// Config describes one activation.
type Config struct {
	Plugin   string // plugin id
	ID       string // generation id
	Registry *contrib.Registry
	Gates    *Table       // where the gate is put at the commit; nil: nowhere
	Logger   *slog.Logger // the host's log file; nil discards
	Timeout  time.Duration // zero: DefaultTimeout
	// Build runs the constructors of the plugin, with labels, under the timeout. A nil App is an app without hooks.
	Build func(ctx context.Context, s *Scope) (App, error)
	// OnSeal runs after the app has started, when the registrar is sealed: exports and imports are sealed here.
	OnSeal func() error
	// Admit is the last check before the commit; nil allows.
	Admit func() error
	// OnCommit runs on the goroutine of Activate after the publication and before background work starts.
	OnCommit func(g *Generation)
	// OnDrop drops the exports, step 7 of a teardown; in a rollback too.
	OnDrop func()
	// OnFault is told once when background work failed. It must not block. It may run before Activate has returned.
	OnFault func(work string)
	// Failpoint, when set, is called with the name of each step; an error fails the step. For tests.
	Failpoint func(step string) error
}

// Generation is one activation of one plugin.
type Generation struct{}

// Activate runs the activation transaction of lifecycle.md 7, steps 6 to 10. When it fails everything is rolled back and
// the error is an *ActivationError. ctx gives no deadline and no cancellation.
func Activate(ctx context.Context, c Config) (*Generation, error) { panic("stub") }

// Plugin returns the plugin id.
func (g *Generation) Plugin() string { panic("stub") }

// ID returns the generation id.
func (g *Generation) ID() string { panic("stub") }

// Gate returns the generation's gate.
func (g *Generation) Gate() *Gate { panic("stub") }

// Refused lists the ContributionRefused diagnostics of the activation.
func (g *Generation) Refused() []contrib.Diagnostic { panic("stub") }

// Stop begins the teardown in the order of lifecycle.md 9.1 and returns at once: steps 1 to 3 are done, the rest goes on.
// A second call returns the same teardown.
func (g *Generation) Stop(cause contrib.StopCause) *Teardown { panic("stub") }

// Errors that an ActivationError is (errors.Is). contrib.ErrRegistrationPending is another one.
var (
	ErrTimeout = errors.New("generations: activation timeout")  // the timer won
	ErrFailed  = errors.New("generations: activation failed")   // a constructor, an invocation or a start hook failed
	ErrPanic   = errors.New("generations: activation panicked") // is ErrFailed too: one of them panicked
	ErrRefused = errors.New("generations: activation refused")  // OnSeal or Admit refused; Unwrap leads to their error
)

// ActivationError says why an activation failed. Its text is fixed; errors.As reaches what Build, OnSeal or Admit
// returned. It may keep objects of the plugin alive: take out what is needed and drop it.
type ActivationError struct {
	Plugin     string
	Generation string
	Step       string
	// Rollback is what is left to do: complete when the activation failed in time, pending after a timeout (or when the
	// rollback itself outlasts the timeout).
	Rollback *Teardown
	errs     []error
}

// Error implements error.
func (e *ActivationError) Error() string { panic("stub") }

// Unwrap gives the sentinel and the error of the step.
func (e *ActivationError) Unwrap() []error { return e.errs }

// Teardown is a teardown that is going on or complete.
type Teardown struct{}

// Done is closed when the teardown is complete.
func (t *Teardown) Done() <-chan struct{} { panic("stub") }

// Errors lists the cleanup errors so far.
func (t *Teardown) Errors() []*CleanupError { panic("stub") }

// Remains is what the leak watch needs. Valid once Done is closed.
func (t *Teardown) Remains() Remains { panic("stub") }

// CleanupError is one failure of a teardown. Its text is fixed; the plugin's own text is in the log file.
type CleanupError struct {
	Plugin     string
	Generation string
	Step       string // drain, work, release, exports, stop, close
	Resource   string // type or name of what failed
}

// Error implements error.
func (e *CleanupError) Error() string { panic("stub") }

// Table maps (plugin id, generation id) to the gate of a committed generation. The zero value is ready.
type Table struct{}

// Gate returns the gate of a generation.
func (t *Table) Gate(plugin, generation string) (*Gate, bool) { panic("stub") }

// Defaults of lifecycle.md 2.
const (
	DefaultTimeout         = 30 * time.Second
	DefaultPollFirst       = 250 * time.Millisecond
	DefaultPollHighest     = 30 * time.Second
	DefaultRestartAfter    = 3
	DefaultStacks          = 16
	DefaultStackBytes      = 8 << 10
	DefaultCleanUpAttempts = 60
)

// Remains is what is left of a stopped generation: a weak reference to its root, and its label.
type Remains struct {
	Plugin     string
	Generation string
	Stopped    time.Time
}

// Reclaimed reports whether the root is gone. It does not look at goroutines.
func (r Remains) RootGone() bool { panic("stub") }

// WatchConfig are the settings of a Watch. Start from DefaultWatchConfig; zero and negative values are errors.
type WatchConfig struct {
	PollFirst    time.Duration
	PollHighest  time.Duration
	RestartAfter int // leaked generations of one plugin from which a restart is recommended
	Stacks       int
	StackBytes   int
	// OnChange is told the plugin whose report has changed, outside of locks, on the poller's goroutine.
	OnChange func(plugin string)
	Logger   *slog.Logger // nil discards
}

// DefaultWatchConfig returns the defaults.
func DefaultWatchConfig() WatchConfig { panic("stub") }

// Watch is the leak watch: it polls stopped generations until they are reclaimed.
type Watch struct{}

// NewWatch makes a watch.
func NewWatch(c WatchConfig) (*Watch, error) { panic("stub") }

// CleanUp is what is done once a generation is reclaimed.
type CleanUp struct {
	Do       func() error
	Attempts int    // at most so many; zero: DefaultCleanUpAttempts
	GaveUp   func() // told when the last attempt failed; may be nil
}

// Add hands a stopped generation to the watch. It reports whether it is reclaimed already.
func (w *Watch) Add(r Remains, c CleanUp) (reclaimed bool) { panic("stub") }

// Report is what the watch knows of one plugin.
type Report struct {
	LeakedGenerations  int    `json:"leakedGenerations"`
	RestartRecommended bool   `json:"restartRecommended"`
	Leaks              []Leak `json:"leaks,omitempty"`
}

// Leak is one stopped generation that is not reclaimed.
type Leak struct {
	Generation string           `json:"generation"`
	Stopped    time.Time        `json:"stopped"`
	RootGone   bool             `json:"rootGone"`
	Goroutines []GoroutineGroup `json:"goroutines,omitempty"`
}

// GoroutineGroup is a number of goroutines with one stack.
type GoroutineGroup struct {
	Count int    `json:"count"`
	Stack string `json:"stack"`
}

// Report returns the report of one plugin.
func (w *Watch) Report(plugin string) Report { panic("stub") }

// Sweep asks for collections until everything is reclaimed or ctx is done; it reports whether all is gone.
func (w *Watch) Sweep(ctx context.Context) bool { panic("stub") }

// Close ends the poller and waits for it.
func (w *Watch) Close() { panic("stub") }
