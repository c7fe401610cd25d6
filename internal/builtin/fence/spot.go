package fence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Approved is what was decided about a call.
type Approved struct {
	Outside bool     // paths outside the workspace may be opened
	Paths   []string // the resolved paths that were judged; when there are any, no others are opened
}

// Spot is a place that has been entered: a root and the name of the place in it. Close it.
type Spot struct {
	Root *os.Root
	Name string // relative to Root, with forward slashes; "." for Root itself

	place  Place
	strict bool // the last part of the name may not be a link
}

// Enter opens the root that a place is reached through. It fails with ErrDenied when the place is not the approved one, and
// never follows a link out of the root that it opened.
func (f *Fence) Enter(p Place, a Approved) (*Spot, error) {
	if len(a.Paths) > 0 && !slices.Contains(a.Paths, p.Path) {
		return nil, ErrMoved
	}
	if !p.Outside {
		rel, ok := f.relative(p.Path)
		if !ok {
			return nil, ErrOutside
		}
		root, err := os.OpenRoot(f.workspace)
		if err != nil {
			return nil, fmt.Errorf("opening the workspace: %w", plain(err))
		}
		return &Spot{Root: root, Name: rel, place: p}, nil
	}
	if !p.Inside && (!a.Outside || !slices.Contains(a.Paths, p.Path)) {
		return nil, ErrOutside
	}
	dir, name := existing(filepath.Dir(p.Path), filepath.Base(p.Path))
	if filepath.Dir(p.Path) == p.Path {
		dir, name = p.Path, "."
	}
	root, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	return &Spot{Root: root, Name: name, place: p, strict: true}, nil
}

// existing moves parts of dir that don't exist to the front of name.
func existing(dir, name string) (string, string) {
	for {
		parent := filepath.Dir(dir)
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return dir, name
		}
		dir, name = parent, filepath.Base(dir)+"/"+name
	}
}

// openDir opens a directory from the top, part by part. A part that is a link by now, or becomes one between the look and
// the opening, is refused.
func openDir(path string) (*os.Root, error) {
	volume := filepath.VolumeName(path)
	top := volume + string(filepath.Separator)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, plain(err)
	}
	for part := range strings.SplitSeq(path[len(top):], string(filepath.Separator)) {
		if part == "" {
			continue
		}
		next, err := openPart(root, part)
		_ = root.Close()
		if err != nil {
			return nil, err
		}
		root = next
	}
	return root, nil
}

func openPart(root *os.Root, part string) (*os.Root, error) {
	before, err := root.Lstat(part)
	if err != nil {
		return nil, plain(err)
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrMoved
	}
	if !before.IsDir() {
		return nil, ErrNotDirectory
	}
	next, err := root.OpenRoot(part)
	if err != nil {
		return nil, plain(err)
	}
	if after, err := next.Stat("."); err != nil || !os.SameFile(before, after) {
		_ = next.Close()
		return nil, ErrMoved
	}
	return next, nil
}

// Close closes the root.
func (s *Spot) Close() error { return s.Root.Close() }

// Place returns what was entered.
func (s *Spot) Place() Place { return s.place }

// Stat looks at the place.
func (s *Spot) Stat() (fs.FileInfo, error) {
	look := s.Root.Stat
	if s.strict {
		look = s.Root.Lstat
	}
	info, err := look(s.Name)
	if err != nil {
		return nil, escape(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrMoved
	}
	return info, nil
}

// Open opens a file for reading. Directories, devices, sockets and pipes are refused.
func (s *Spot) Open() (*os.File, error) {
	before, err := s.Stat()
	if err != nil {
		return nil, err
	}
	if err := regular(before); err != nil {
		return nil, err
	}
	file, after, err := OpenRegular(s.Root, s.Name)
	if err != nil {
		return nil, err
	}
	if s.strict && !os.SameFile(before, after) {
		_ = file.Close()
		return nil, ErrMoved
	}
	return file, nil
}

// OpenRegular opens a regular file below a root for reading. It never waits for the other end of a pipe.
func OpenRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, escape(err)
	}
	// What counts is the file that was opened, not what was there before.
	info, err := file.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, plain(err)
	}
	return file, info, nil
}

// OpenDir opens the place as a root of its own.
func (s *Spot) OpenDir() (*os.Root, error) {
	before, err := s.Stat()
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, ErrNotDirectory
	}
	root, err := s.Root.OpenRoot(s.Name)
	if err != nil {
		return nil, escape(err)
	}
	if after, err := root.Stat("."); err != nil || s.strict && !os.SameFile(before, after) {
		_ = root.Close()
		return nil, ErrMoved
	}
	return root, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrDirectory
	case !info.Mode().IsRegular():
		return ErrSpecial
	}
	return nil
}

// escape tells a link that leads out of a root from other errors. The system library has no name for that error, only this
// text.
func escape(err error) error {
	reason := plain(err)
	if reason.Error() == "path escapes from parent" {
		return ErrMoved
	}
	return reason
}
