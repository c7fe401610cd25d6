package threadlog

import (
	"errors"
	"fmt"
)

// Errors of opening and finding threads.
var (
	// ErrNotFound is returned for an id or prefix that no thread has.
	ErrNotFound = errors.New("no such thread")
	// ErrAmbiguous is returned for a prefix that several threads have.
	ErrAmbiguous = errors.New("several threads have this prefix")
	// ErrDamaged is returned for a file whose first line is no readable thread record.
	ErrDamaged = errors.New("not a thread: the first line is unreadable")
	// ErrSchemaNewer is returned when a log of a newer host is opened for writing.
	ErrSchemaNewer = errors.New("the log was made by a newer host")
	// ErrInUse is matched by every [InUseError].
	ErrInUse = errors.New("the thread is in use")
)

// Errors of appending.
var (
	// ErrClosed is returned by appends to a log that was closed, or that an earlier write error closed for writing.
	ErrClosed = errors.New("the log is closed for writing")
	// ErrRecord is returned for a record that can't be stored: nil, without its item, or one that only the log writes.
	ErrRecord = errors.New("the record can't be stored")
	// ErrImage is returned for bytes that are no acceptable image.
	ErrImage = errors.New("not an accepted image")
)

// Errors of forks and exports.
var (
	// ErrPlace is returned for a place that the log does not have.
	ErrPlace = errors.New("no such place in the log")
	// ErrFormat is returned for an unknown export format.
	ErrFormat = errors.New("unknown export format")
)

// InUseError says which process writes to the thread.
type InUseError struct {
	Thread  string
	Process int    // process id; 0 when unknown
	Since   string // start time of the process, as it wrote it
}

// Error names the thread and the process.
func (e *InUseError) Error() string {
	if e.Process == 0 {
		return fmt.Sprintf("thread %s is in use by another process", e.Thread)
	}
	return fmt.Sprintf("thread %s is in use by process %d", e.Thread, e.Process)
}

// Is makes the error match [ErrInUse].
func (e *InUseError) Is(target error) bool { return target == ErrInUse }
