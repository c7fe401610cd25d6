package childproc

import (
	"os"
	"syscall"
)

// attributes keep the child away from our console.
func attributes() *syscall.SysProcAttr {
	const createNewProcessGroup, createNoWindow = 0x00000200, 0x08000000
	return &syscall.SysProcAttr{CreationFlags: createNewProcessGroup | createNoWindow}
}

// There is no TERM: the child is ended.
func (g *group) terminate() { g.kill() }

func (g *group) kill() {
	if p, err := os.FindProcess(g.leader); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

// alive can't tell whether the child left something behind.
func (g *group) alive() bool { return false }

func marked(string, *group) []int { return nil }

func status(s *os.ProcessState) (code int, signal string) {
	if s == nil {
		return -1, ""
	}
	return s.ExitCode(), ""
}
