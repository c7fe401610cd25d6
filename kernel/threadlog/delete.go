package threadlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Delete removes a thread, archived or not: its log, its lock, copies of torn tails, its spilled outputs, and then the
// images that no other thread names. A thread that is in use fails with an *[InUseError].
func (s *DiskStore) Delete(ctx context.Context, id string) error {
	return s.locked(ctx, id, func() error {
		path, err := s.find(id)
		if err != nil {
			return err
		}
		images, err := imagesOf(path)
		if err != nil {
			return openError(id, err)
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("thread %s: delete: %w", id, err)
		}
		var failed []error
		failed = append(failed, os.RemoveAll(filepath.Join(s.home, "spill", id)))
		torn, _ := filepath.Glob(filepath.Join(s.threads(), id+".torn-*"))
		for _, path := range torn {
			failed = append(failed, os.Remove(path))
		}
		failed = append(failed, s.deleteImages(images))
		failed = append(failed, os.Remove(s.lockPath(id)))
		failed = append(failed, flushDir(filepath.Dir(path)))
		if err := errors.Join(failed...); err != nil {
			return fmt.Errorf("thread %s: delete: the log is gone, something else is left: %w", id, err)
		}
		return nil
	})
}

// imagesOf returns the hashes that a log names, in lines that can be read and in others.
func imagesOf(path string) (map[string]bool, error) {
	found := make(map[string]bool)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = scan(f, func(raw []byte, _ int, _, _ int64) bool {
		for rest := raw; ; {
			i := bytes.Index(rest, []byte(`"sha256"`))
			if i < 0 {
				return true
			}
			rest = rest[i+len(`"sha256"`):]
			value := bytes.TrimLeft(rest, " \t:")
			if len(value) > 65 && value[0] == '"' && isHex(string(value[1:65])) && value[65] == '"' {
				found[string(value[1:65])] = true
			}
		}
	})
	return found, err
}

// deleteImages removes those images that no thread names. When a thread can't be read, all stay.
func (s *DiskStore) deleteImages(images map[string]bool) error {
	if len(images) == 0 {
		return nil
	}
	for _, dir := range []string{s.threads(), s.archived()} {
		files, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, file := range files {
			if id, ok := strings.CutSuffix(file.Name(), ".jsonl"); !ok || !isID(id) {
				continue
			}
			named, err := imagesOf(filepath.Join(dir, file.Name()))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for name := range named {
				delete(images, name)
			}
		}
	}
	var failed []error
	for name := range images {
		if err := os.Remove(filepath.Join(string(s.media()), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
