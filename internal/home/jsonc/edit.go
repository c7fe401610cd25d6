package jsonc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/tailscale/hujson"
)

// LockWait is how long [Edit] waits for another process.
const LockWait = 5 * time.Second

const lockPoll = 5 * time.Millisecond

// LockedError says that the lock of a file was not free in time.
type LockedError struct {
	File string // the file that was to be changed
	Lock string // the lock file
}

// Error names both files.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%s was not changed: another process has held %s for %s; end that process and try again",
		e.File, e.Lock, LockWait)
}

// Edit changes the file at path. change is given its content, read again under an exclusive lock on path + ".lock"; a
// missing file is an empty object. When change has altered something, the new content replaces the file at once, in the
// old file's mode; a new file gets mode 0600, and its directories 0700. changed reports whether the file was written.
//
// A file that can't be parsed is never overwritten: the error is a *[SyntaxError]. A lock that isn't free within
// [LockWait] gives a *[LockedError]. An error of change is returned as it is, and nothing is written.
func Edit(path string, change func(d *Draft) error) (changed bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	unlock, err := acquire(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	target, mode, err := resolve(path)
	if err != nil {
		return false, err
	}
	text, err := readFile(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	d := &Draft{newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	if err != nil {
		d.root = hujson.Value{Value: &hujson.Object{}, AfterExtra: hujson.Extra("\n")}
	} else if d.root, err = parse(path, text); err != nil {
		return false, err
	}
	if err := change(d); err != nil || !d.changed {
		return false, err
	}
	out := d.root.Pack()
	if bytes.HasPrefix(text, bom) {
		out = append(bom[:len(bom):len(bom)], out...)
	}
	return true, replace(target, out, mode)
}

// resolve follows a symbolic link, because the file that it leads to is the one to replace, and finds the mode.
func resolve(path string) (target string, mode fs.FileMode, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, link := os.Lstat(path); link == nil {
			return "", 0, fmt.Errorf("%s is a symbolic link that leads nowhere", path)
		}
		return path, 0o600, nil
	}
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", 0, err
	}
	return target, info.Mode().Perm(), nil
}

// acquire takes the lock of path. The lock file stays: removing it would let two processes hold two locks.
func acquire(path string) (unlock func() error, err error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	deadline := time.Now().Add(LockWait)
	for {
		ok, err := lock.TryLock()
		if err != nil {
			return nil, err
		}
		if ok {
			return lock.Close, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(&LockedError{File: path, Lock: lock.Path()}, lock.Close())
		}
		time.Sleep(lockPoll)
	}
}
