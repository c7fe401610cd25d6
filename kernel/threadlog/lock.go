package threadlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockWait  = 2 * time.Second
	lockRetry = 20 * time.Millisecond
)

// started is when this process began to write threads, by which it can be told from another one with the same id.
var started = time.Now()

// held is the lock of one thread, held by this process. It ends with the process.
type held struct{ file *flock.Flock }

// lock takes the lock of a thread. It waits for another writer for a while and fails with an *InUseError then.
func lock(ctx context.Context, path, id string) (*held, error) {
	f := flock.New(path, flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	ok, err := f.TryLockContext(wait, lockRetry)
	if !ok || err != nil {
		_ = f.Close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("thread %s: lock: %w", id, context.Cause(ctx))
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("thread %s: lock: %w", id, err)
		}
		return nil, owner(path, id)
	}
	// Who holds the lock is said for people: a lock without it is held all the same.
	text := fmt.Sprintf("%d %s\n", os.Getpid(), started.UTC().Format(time.RFC3339))
	_ = os.WriteFile(path, []byte(text), 0o600)
	return &held{file: f}, nil
}

func (h *held) release() {
	if h != nil {
		_ = h.file.Close()
	}
}

// owner reads who holds a lock.
func owner(path, id string) *InUseError {
	e := &InUseError{Thread: id}
	text, err := os.ReadFile(path)
	if err != nil {
		return e
	}
	pid, since, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	e.Process, _ = strconv.Atoi(pid)
	e.Since = since
	return e
}

// inUse reports whether somebody holds a lock.
func inUse(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	f := flock.New(path, flock.SetFlag(os.O_RDONLY))
	defer f.Close()
	ok, err := f.TryRLock()
	return err == nil && !ok
}
