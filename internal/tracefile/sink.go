package tracefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/trace"
)

// MaxFile is how many bytes the file may have. What was in it when it was opened counts; what other processes append
// meanwhile does not.
const MaxFile = 256 << 20

// full is the type of the line that ends a file without room, and fullRoom what is kept free for it.
const (
	full     = "trace_full"
	fullRoom = 128
)

// Errors of a sink.
var (
	// ErrFull is returned once, when the file has no room for an event.
	ErrFull = errors.New("the file has reached its largest size")
	// ErrClosed is returned by a sink that was closed.
	ErrClosed = errors.New("tracefile: the sink is closed")
	// ErrNoFile is returned by Open for what is no regular file.
	ErrNoFile = errors.New("not a regular file")
)

// Sink appends events to a file. It is safe for use by several goroutines, and several processes may append to one file.
type Sink struct {
	path string
	max  int64

	mu      sync.Mutex
	file    *os.File // nil once closed
	size    int64
	torn    bool // the file ends in the middle of a line
	ended   bool // its last line says that it is full
	failing bool // the last event was not written
	line    []byte
}

var _ trace.Sink = (*Sink)(nil)

// Open opens a file for appending. When there is none it makes one with mode 0600, and the directories above it with mode
// 0700. It is the caller's to close, unless a [Module] does.
func Open(path string) (*Sink, error) { return open(path, MaxFile) }

func open(path string, largest int64) (*Sink, error) {
	path = filepath.Clean(path)
	// A pipe or a device would block, or never say that it is full.
	if i, err := os.Stat(path); err == nil && !i.Mode().IsRegular() {
		return nil, fmt.Errorf("tracefile: open %s: %w", path, ErrNoFile)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("tracefile: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("tracefile: make the directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("tracefile: %w", err)
	}
	s := &Sink{path: path, max: largest, file: f}
	if err := s.look(); err != nil {
		return nil, errors.Join(fmt.Errorf("tracefile: %w", err), f.Close())
	}
	return s, nil
}

// look finds out what is in the file already.
func (s *Sink) look() error {
	i, err := s.file.Stat()
	if err != nil || i.Size() == 0 {
		return err
	}
	tail := make([]byte, min(i.Size(), fullRoom))
	if _, err := s.file.ReadAt(tail, i.Size()-int64(len(tail))); err != nil {
		return err
	}
	before, whole := bytes.CutSuffix(tail, []byte("\n"))
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	s.size, s.torn, s.ended = i.Size(), !whole, bytes.HasPrefix(last, []byte(`{"type":"`+full+`"`))
	return nil
}

// Name returns file.
func (*Sink) Name() string { return "file" }

// head is what stands before the data of an event.
type head struct {
	Type   string    `json:"type"`
	Time   time.Time `json:"time"`
	Thread string    `json:"threadId,omitempty"`
	Turn   string    `json:"turnId,omitempty"`
}

// Record appends one line, whole or not at all. Of failures in a row only the first one is an error.
func (s *Sink) Record(_ context.Context, e trace.Event) error {
	front, err := json.Marshal(head{e.Type, e.Time.UTC(), e.Thread, e.Turn})
	if err != nil {
		return fmt.Errorf("tracefile: an event has no JSON form: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return ErrClosed
	}
	s.begin(front)
	if len(e.Data) > 0 {
		s.line = append(s.line, `,"data":`...)
		s.line = append(s.line, e.Data...)
	}
	s.line = append(s.line, '}', '\n')
	if s.ended || s.size+int64(len(s.line)) > s.max-fullRoom {
		err = s.end(e.Time)
	} else {
		err = s.write()
	}
	again := s.failing
	if s.failing = err != nil; err != nil && !again {
		return fmt.Errorf("tracefile: append to %s, from where events are missing until it works again: %w", s.path, err)
	}
	return nil
}

// begin begins a line with the members of an object.
func (s *Sink) begin(object []byte) {
	s.line = s.line[:0]
	if s.torn {
		s.line = append(s.line, '\n')
	}
	s.line = append(s.line, object[:len(object)-1]...)
}

// end writes the last line of a file that is full.
func (s *Sink) end(at time.Time) error {
	if s.ended {
		return ErrFull
	}
	front, err := json.Marshal(head{Type: full, Time: at.UTC()})
	if err != nil {
		return errors.Join(ErrFull, err)
	}
	s.begin(front)
	s.line = append(s.line, `,"data":{"bytes":`...)
	s.line = strconv.AppendInt(s.line, s.max, 10)
	s.line = append(s.line, "}}\n"...)
	if s.ended = true; s.size+int64(len(s.line)) > s.max {
		return ErrFull
	}
	return errors.Join(ErrFull, s.write())
}

// write appends the line. What came into the file of one that did not fit on the disk is taken back, if it is still the last.
func (s *Sink) write() error {
	n, err := s.file.Write(s.line)
	if err == nil {
		s.size, s.torn = s.size+int64(n), false
		return nil
	}
	if n == 0 {
		return err
	}
	if i, failure := s.file.Stat(); failure == nil && i.Size() == s.size+int64(n) && s.file.Truncate(s.size) == nil {
		return err
	}
	s.size, s.torn = s.size+int64(n), s.line[n-1] != '\n'
	return err
}

// Close flushes the file to disk and closes it. Idempotent; a nil sink has nothing to close.
func (s *Sink) Close() error {
	if s == nil {
		return nil
	}
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

// Module contributes the sink to the kernel of the graph. It is closed when the app stops, after the kernel: one that stops
// still has events. A sink of an app that does not start is the caller's to close.
func Module(s *Sink) fx.Option {
	return contrib.Provide(trace.Sinks, func(k *kernel.Kernel, l fx.Lifecycle) trace.Sink {
		l.Append(fx.StopHook(func(ctx context.Context) error { return errors.Join(k.Stop(ctx), s.Close()) }))
		return s
	}, contrib.Label("file"))
}
