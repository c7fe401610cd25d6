package tracefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/trace"
)

// MaxFile is how many bytes the file may have.
const MaxFile = 256 << 20

// Errors of a sink.
var (
	// ErrFull is returned once, when the file has no room for an event.
	ErrFull = errors.New("tracefile: the file has reached its largest size")
	// ErrClosed is returned by a sink that was closed.
	ErrClosed = errors.New("tracefile: the sink is closed")
	// ErrNoFile is returned by Open for what is no regular file.
	ErrNoFile = errors.New("tracefile: not a regular file")
)

// Sink appends events to a file. It is safe for use by several goroutines.
type Sink struct {
	mu   sync.Mutex
	file *os.File // nil once closed
	size int64
	max  int64
	full bool
	line []byte
}

var _ trace.Sink = (*Sink)(nil)

// Open opens a file for appending, and makes it with mode 0600 when there is none. It is the caller's to close.
func Open(path string) (*Sink, error) { return open(path, MaxFile) }

func open(path string, largest int64) (*Sink, error) {
	// A pipe or a device would block, or never say that it is full.
	if i, err := os.Stat(path); err == nil && !i.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s", ErrNoFile, path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("tracefile: open: %w", err)
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("tracefile: open: %w", err)
	}
	i, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("tracefile: open: %w", err), f.Close())
	}
	return &Sink{file: f, size: i.Size(), max: largest}, nil
}

// Name returns file.
func (*Sink) Name() string { return "file" }

// head is what stands before the data of an event.
type head struct {
	Type   string    `json:"type"`
	Time   time.Time `json:"time"`
	Thread string    `json:"threadId"`
	Turn   string    `json:"turnId,omitempty"`
}

// Record appends one line, whole or not at all.
func (s *Sink) Record(_ context.Context, e trace.Event) error {
	front, err := json.Marshal(head{e.Type, e.Time.UTC(), e.Thread, e.Turn})
	if err != nil {
		return fmt.Errorf("tracefile: an event has no JSON form: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.file == nil:
		return ErrClosed
	case s.full:
		return nil
	}
	s.line = append(s.line[:0], front[:len(front)-1]...)
	if len(e.Data) > 0 {
		s.line = append(s.line, `,"data":`...)
		s.line = append(s.line, e.Data...)
	}
	s.line = append(s.line, '}', '\n')
	if s.size+int64(len(s.line)) > s.max {
		s.full = true
		return ErrFull
	}
	n, err := s.file.Write(s.line)
	if err != nil {
		// What was written of the line is taken back, so that the next one begins a line.
		if n > 0 {
			err = errors.Join(err, s.file.Truncate(s.size))
		}
		return fmt.Errorf("tracefile: append: %w", err)
	}
	s.size += int64(n)
	return nil
}

// Close flushes the file to disk and closes it. Idempotent.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Sync(), s.file.Close())
	s.file = nil
	if err != nil {
		return fmt.Errorf("tracefile: close: %w", err)
	}
	return nil
}

// Module contributes a sink for a file to the kernel of the graph. It is closed when the app stops, after the kernel: one
// that stops still has events.
func Module(path string) fx.Option {
	return contrib.Provide(trace.Sinks, func(k *kernel.Kernel, l fx.Lifecycle) (trace.Sink, error) {
		s, err := Open(path)
		if err != nil {
			return nil, err
		}
		l.Append(fx.StopHook(func(ctx context.Context) error { return errors.Join(k.Stop(ctx), s.Close()) }))
		return s, nil
	}, contrib.Label("file"))
}
