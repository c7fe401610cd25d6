//go:build unix

package childproc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes make the child the leader of its own session and group. A new session has no terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (g *group) terminate() {
	_ = unix.Kill(-g.leader, unix.SIGTERM)
	// A stopped process takes no TERM until it goes on.
	_ = unix.Kill(-g.leader, unix.SIGCONT)
}

func (g *group) kill() { _ = unix.Kill(-g.leader, unix.SIGKILL) }

// alive reports whether the group still has a process that runs. As long as it has one, the system gives its number to
// nobody else.
func (g *group) alive() bool {
	err := unix.Kill(-g.leader, 0)
	if errors.Is(err, unix.ESRCH) {
		return false
	}
	return running(g.leader)
}

// status takes the code and the signal from the state of a process that has ended.
func status(s *os.ProcessState) (code int, signal string) {
	if s == nil {
		return -1, ""
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return -1, unix.SignalName(w.Signal())
	}
	return s.ExitCode(), ""
}
