package crystalcmd

import (
	"os"
	"os/signal"
	"syscall"
)

// divert keeps the process's own standard output for the program: what plugin code prints there goes to the log. A
// reader that goes away is an error of a write from now on, and not the end of the process. back undoes both.
func (p *program) divert(l *logFile) (back func()) {
	if !p.own {
		return func() {}
	}
	// Caught and dropped: ignoring the signal would be inherited by children.
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	target, err := l.open()
	if err != nil {
		target, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err != nil {
		return func() { signal.Stop(gone) }
	}
	own, restore := redirect(target)
	before := p.stdout
	if before == os.Stdout && own != nil {
		p.stdout = own
	}
	return func() {
		p.stdout = before
		restore()
		signal.Stop(gone)
	}
}
