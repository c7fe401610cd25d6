//go:build unix

package crystalcmd

import (
	"os"

	"golang.org/x/sys/unix"
)

// redirect makes file descriptor 1 lead to target and returns another way to where it led before. The descriptor itself
// is moved, because a plugin may have kept os.Stdout when its package was initialised.
func redirect(target *os.File) (own *os.File, restore func()) {
	// Children must not inherit it: one that stays would keep the reader waiting.
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, func() {}
	}
	own = os.NewFile(uintptr(fd), os.Stdout.Name())
	if err := dup(int(target.Fd()), 1); err != nil {
		_ = own.Close()
		return nil, func() {}
	}
	return own, func() {
		_ = dup(fd, 1)
		_ = own.Close()
	}
}
