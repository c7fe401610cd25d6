package threadlog

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Archive puts a thread away: it is no longer listed with the others and can't be opened. A thread that is in use fails
// with an *[InUseError].
func (s *DiskStore) Archive(ctx context.Context, id string) error {
	return s.move(ctx, id, s.path(id), s.archivePath(id))
}

// Unarchive takes a thread back.
func (s *DiskStore) Unarchive(ctx context.Context, id string) error {
	return s.move(ctx, id, s.archivePath(id), s.path(id))
}

func (s *DiskStore) move(ctx context.Context, id, from, to string) error {
	return s.locked(ctx, id, func() error {
		if _, err := os.Stat(from); err != nil {
			return openError(id, err)
		}
		if err := makeDir(filepath.Dir(to)); err != nil {
			return fmt.Errorf("thread %s: move: %w", id, err)
		}
		if _, err := os.Lstat(to); err == nil {
			return fmt.Errorf("thread %s: move: %w: %s", id, fs.ErrExist, to)
		}
		err := os.Rename(from, to)
		if err == nil {
			err = flushDir(filepath.Dir(to))
		}
		if err == nil {
			err = flushDir(filepath.Dir(from))
		}
		if err != nil {
			return fmt.Errorf("thread %s: move: %w", id, err)
		}
		return nil
	})
}

// locked runs fn while the thread is locked.
func (s *DiskStore) locked(ctx context.Context, id string, fn func() error) error {
	if _, err := s.find(id); err != nil {
		return err
	}
	held, err := lock(ctx, s.lockPath(id), id)
	if err != nil {
		return err
	}
	defer held.release()
	return fn()
}
