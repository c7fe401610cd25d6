package generations

import (
	"errors"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
)

// Errors of use after a generation was told to stop.
var (
	// ErrStopping is the cause of every context that ended because its generation was told to stop, and what
	// a [Lifetime] answers from then on. It satisfies errors.Is(err, contrib.ErrRevoked).
	ErrStopping error = stoppingError{}
)

// Errors of a refused [Lifetime.Own] or [Lifetime.OnClose]. The caller keeps the object.
var (
	// ErrNotClosable refuses nil, and a value without Close() error or Close(context.Context) error.
	ErrNotClosable = errors.New("generations: not closable")
	// ErrOwnedTwice refuses an object that the lifetime owns already.
	ErrOwnedTwice = errors.New("generations: owned already")
)

// Errors that an [ActivationError] is, in the sense of errors.Is. [contrib.ErrRegistrationPending] is another one.
var (
	// ErrTimeout says that the timer won: the code of the activation is still running.
	ErrTimeout = errors.New("generations: activation timeout")
	// ErrFailed says that a constructor, an invocation or a start hook failed, or that a test injected a failure.
	ErrFailed = errors.New("generations: activation failed")
	// ErrPanic says that one of them panicked, or ended its goroutine. Such an error is ErrFailed too.
	ErrPanic = errors.New("generations: activation panicked")
	// ErrRefused says that Config.OnSeal or Config.Admit refused; errors.As reaches what they returned.
	ErrRefused = errors.New("generations: activation refused")
)

// stoppingError is the type of ErrStopping.
type stoppingError struct{}

func (stoppingError) Error() string        { return "generations: stopping" }
func (stoppingError) Is(target error) bool { return target == contrib.ErrRevoked }

// ActivationError says why an activation failed. Its text is fixed and holds nothing that plugin code wrote. What
// Build, OnSeal or Admit returned is reached with errors.As; such an error may keep objects of the plugin, so take out
// what is needed and let go of the rest, or the generation is never reclaimed.
type ActivationError struct {
	Plugin     string
	Generation string
	Step       string // the step that failed, one of the Step constants
	// Rollback takes back what was built. It is complete when Activate returns, except after a timeout and when the
	// rollback itself lasts longer than the timeout: then it is a pending teardown.
	Rollback *Teardown
	errs     []error
}

// Error returns a fixed text with the plugin, the generation and the step.
func (e *ActivationError) Error() string {
	return fmt.Sprintf("generations: activation of %s@%s failed in step %q", e.Plugin, e.Generation, e.Step)
}

// Unwrap gives the sentinels and the error of the step.
func (e *ActivationError) Unwrap() []error { return e.errs }

// CleanupError is one failure of a teardown. Its text is fixed; what the plugin's code said is in the log file.
type CleanupError struct {
	Plugin     string
	Generation string
	Step       string // one of the Clean constants
	Resource   string // type or name of what failed; may be blank
}

// Error returns a fixed text with the plugin, the generation and the step.
func (e *CleanupError) Error() string {
	return fmt.Sprintf("generations: cleanup of %s@%s failed in step %q", e.Plugin, e.Generation, e.Step)
}
