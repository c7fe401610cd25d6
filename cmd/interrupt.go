package crystalcmd

import (
	"context"
	"os"
	"sync"
	"syscall"

	"github.com/crystalkernel/crystal/internal/childproc"
)

// interrupter decides what a signal does: the first one cancels the turn that runs; any other ends the process at once,
// with the process groups of its children.
type interrupter struct {
	mu     sync.Mutex
	cancel context.CancelFunc // of the turn; nil while none runs
	exit   func(code int)
}

func newInterrupter(exit func(code int)) *interrupter { return &interrupter{exit: exit} }

// turn makes the next signal cancel the returned context. end makes signals end the process again.
func (i *interrupter) turn(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	i.mu.Lock()
	i.cancel = cancel
	i.mu.Unlock()
	return ctx, func() {
		i.mu.Lock()
		i.cancel = nil
		i.mu.Unlock()
		cancel()
	}
}

// signal handles one signal.
func (i *interrupter) signal(s os.Signal) {
	i.mu.Lock()
	cancel := i.cancel
	i.cancel = nil
	i.mu.Unlock()
	if cancel != nil {
		cancel()
		return
	}
	childproc.KillAll()
	i.exit(128 + number(s))
}

// number returns the number of a signal; a hang-up counts as a termination.
func number(s os.Signal) int {
	n, ok := s.(syscall.Signal)
	if !ok || n == syscall.SIGHUP {
		n = syscall.SIGTERM
	}
	return int(n)
}
