package fence

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Replace puts data in the place of the file in one step, or makes the file and the directories that it needs. mode is that
// of a new file, less the umask; a file that is there keeps its own.
func (s *Spot) Replace(data []byte) (created bool, err error) {
	if s.place.Dangling {
		return false, ErrDangling
	}
	mode := fs.FileMode(0o644)
	before, err := s.Stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		created = true
	case err != nil:
		return false, err
	default:
		if err := regular(before); err != nil {
			return false, err
		}
		mode = before.Mode().Perm()
	}
	dir := path.Dir(s.Name)
	if created {
		if err := s.Root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return false, escape(err)
		}
	}
	temp := path.Join(dir, ".crystal-"+rand.Text())
	if err := s.fill(temp, data, mode, !created); err != nil {
		_ = s.Root.Remove(temp)
		return false, escape(err)
	}
	if err := s.Root.Rename(temp, s.Name); err != nil {
		_ = s.Root.Remove(temp)
		return false, escape(err)
	}
	return created, nil
}

// fill writes the new content beside the old one.
func (s *Spot) fill(temp string, data []byte, mode fs.FileMode, exact bool) error {
	f, err := s.Root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && exact {
		err = f.Chmod(mode) // the umask has no say about a mode that was there
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
