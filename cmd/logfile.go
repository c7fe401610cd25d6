package crystalcmd

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/crystalkernel/crystal/internal/home"
)

// logLimit is the size at which a log file is put aside when it is opened.
const logLimit = 10 << 20

// logFile is the log of a process. It is opened at the first line, so that a command without anything to log makes no
// directory.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	err  error
}

func newLogFile(h home.Dir) *logFile { return &logFile{path: h.Path("logs", "crystal.log")} }

// Write appends p. A log that can't be written loses what it was given: nothing else depends on it.
func (l *logFile) Write(p []byte) (int, error) {
	f, err := l.open()
	if err != nil {
		return len(p), nil
	}
	return f.Write(p)
}

// open opens the file, once.
func (l *logFile) open() (*os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil || l.err != nil {
		return l.file, l.err
	}
	if l.err = os.MkdirAll(filepath.Dir(l.path), 0o700); l.err != nil {
		return nil, l.err
	}
	if info, err := os.Stat(l.path); err == nil && info.Size() > logLimit {
		// The one before last is given up; a failure leaves the file as it is.
		_ = os.Rename(l.path, l.path+".1")
	}
	l.file, l.err = os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return l.file, l.err
}

// close closes the file.
func (l *logFile) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file, l.err = nil, fs.ErrClosed
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// logger makes the logger of a process.
func (l *logFile) logger(level string, debug bool) *slog.Logger {
	var at slog.Level
	if at.UnmarshalText([]byte(level)) != nil {
		at = slog.LevelInfo
	}
	if debug {
		at = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: at}))
}
