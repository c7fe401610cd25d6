package fence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxPath is the longest path in bytes that is looked at.
const maxPath = 4096

// maxLinks is how many links one path may lead through.
const maxLinks = 40

// Config sets up a Fence. Workspace is required and absolute.
type Config struct {
	Workspace string
	Home      string   // of the host; blank: it has none
	UserHome  string   // what "~" stands for; blank: the user's home directory
	Inside    []string // directories outside the workspace that count as inside for reading
}

// Fence judges and opens paths, seen from one workspace. It is immutable.
type Fence struct {
	workspace string // resolved
	alias     string // as it was given
	home      []string
	userHome  string
	inside    []string // as they were given: few paths need to know where they are
}

// New makes a fence. Directories that can't be resolved are taken as they are.
func New(c Config) *Fence {
	f := &Fence{alias: filepath.Clean(c.Workspace), userHome: c.UserHome}
	f.workspace = realDir(f.alias)
	if f.userHome == "" {
		f.userHome, _ = os.UserHomeDir() // without one, "~" is the name of a file
	}
	if c.Home != "" {
		f.home = []string{filepath.Clean(c.Home), realDir(filepath.Clean(c.Home))}
	}
	for _, dir := range c.Inside {
		if dir != "" {
			f.inside = append(f.inside, filepath.Clean(dir))
		}
	}
	return f
}

func realDir(dir string) string {
	if resolved, _, err := resolve(dir, maxLinks); err == nil {
		return resolved
	}
	return dir
}

// With returns a fence with one more directory that counts as inside for reading.
func (f *Fence) With(inside string) *Fence {
	more := *f
	more.inside = append(f.inside[:len(f.inside):len(f.inside)], filepath.Clean(inside))
	return &more
}

// Workspace returns the workspace with its links resolved.
func (f *Fence) Workspace() string { return f.workspace }

// UserHome returns what "~" stands for; blank when there is no such directory.
func (f *Fence) UserHome() string { return f.userHome }

// Place is where a path leads.
type Place struct {
	Given      string // absolute, as it was given
	Path       string // absolute, with all links resolved; for a file that doesn't exist, as far as there are directories
	Outside    bool   // given or resolved, it leaves the workspace
	Inside     bool   // it is Outside, in a directory that counts as inside for reading
	Credential bool   // it holds credentials
	Guarded    bool   // writing to it can make later code run
	Dangling   bool   // it leads through a link whose target doesn't exist
}

// Judge says where a path leads: relative to the workspace, absolute, or beginning with "~/". A blank path is the
// workspace. The error is ErrMalformed, or says why the path can't be resolved.
func (f *Fence) Judge(path string) (Place, error) { return f.JudgeFrom(f.workspace, path) }

// JudgeFrom is Judge with another directory that relative paths start from.
func (f *Fence) JudgeFrom(dir, path string) (Place, error) {
	given, err := f.absolute(dir, path)
	if err != nil {
		return Place{}, err
	}
	p := Place{Given: given}
	if f.direct(given) {
		p.Path = given
	} else if p.Path, p.Dangling, err = resolve(given, maxLinks); err != nil {
		return Place{}, err
	}
	p.Outside = !f.within(p.Given) || !f.within(p.Path)
	if p.Outside {
		for _, dir := range f.inside {
			p.Inside = p.Inside || Below(realDir(dir), p.Path)
		}
	}
	p.Credential = f.Credential(p.Given) || f.Credential(p.Path)
	p.Guarded = f.guarded(p.Given) || f.guarded(p.Path)
	return p, nil
}

// direct reports whether a path leads from the workspace down without a link. Most do, and the directories above the
// workspace, whose links are resolved, need no look then.
func (f *Fence) direct(given string) bool {
	if !Below(f.workspace, given) {
		return false
	}
	for at := len(f.workspace); at < len(given); {
		next := at + 1
		for next < len(given) && !os.IsPathSeparator(given[next]) {
			next++
		}
		info, err := os.Lstat(given[:next])
		if errors.Is(err, fs.ErrNotExist) {
			return true // nor does anything below it
		}
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return false
		}
		at = next
	}
	return true
}

// absolute makes the path absolute by its spelling alone: nothing is looked up.
func (f *Fence) absolute(dir, path string) (string, error) {
	switch {
	case len(path) > maxPath:
		return "", fmt.Errorf("%w: it is longer than %d bytes", ErrMalformed, maxPath)
	case strings.IndexByte(path, 0) >= 0:
		return "", fmt.Errorf("%w: it holds a zero byte", ErrMalformed)
	}
	if runtime.GOOS == "windows" {
		path = filepath.FromSlash(path)
	}
	if f.userHome != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		return filepath.Join(f.userHome, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(dir, path), nil
}

// within reports whether an absolute path is the workspace or lies below it.
func (f *Fence) within(path string) bool { return Below(f.workspace, path) || Below(f.alias, path) }

// relative returns a path inside the workspace as seen from it, with forward slashes.
func (f *Fence) relative(path string) (string, bool) {
	for _, dir := range [...]string{f.workspace, f.alias} {
		if Below(dir, path) {
			rel, err := filepath.Rel(dir, path)
			return filepath.ToSlash(rel), err == nil
		}
	}
	return "", false
}

// Show returns how a path is named in results: from the workspace when it lies in it, else absolute, with forward slashes.
func (f *Fence) Show(path string) string {
	if rel, ok := f.relative(path); ok {
		return rel
	}
	return filepath.ToSlash(path)
}

// Below reports whether path is dir or lies below it. Both are absolute and clean.
func Below(dir, path string) bool {
	if !strings.HasPrefix(path, dir) {
		return false
	}
	return len(path) == len(dir) || os.IsPathSeparator(path[len(dir)]) || len(dir) > 0 && os.IsPathSeparator(dir[len(dir)-1])
}

// resolve follows all links of an absolute path. What doesn't exist is kept as it is, below what does.
func resolve(path string, links int) (resolved string, dangling bool, err error) {
	if resolved, err = filepath.EvalSymlinks(path); err == nil {
		return resolved, false, nil
	}
	if links == 0 {
		return "", false, fmt.Errorf("%w: it leads through too many links", ErrMalformed)
	}
	if info, lstat := os.Lstat(path); lstat == nil && info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return "", false, plain(err)
		}
		if !filepath.IsAbs(target) {
			// The link's own directory exists, and its links count before the "..", as the system has it.
			dir, _, err := resolve(filepath.Dir(path), links-1)
			if err != nil {
				return "", false, err
			}
			target = filepath.Join(dir, target)
		}
		resolved, _, err = resolve(filepath.Clean(target), links-1)
		return resolved, true, err
	}
	parent := filepath.Dir(path)
	if parent == path {
		return "", false, plain(err)
	}
	// Not there, or not to be seen: its directory decides where it lies.
	dir, dangling, err := resolve(parent, links-1)
	if err != nil {
		return "", false, err
	}
	return filepath.Join(dir, filepath.Base(path)), dangling, nil
}

// plain takes the path out of an error of the system: the path that was asked for is named by the caller.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
