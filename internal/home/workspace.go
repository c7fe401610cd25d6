package home

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// TreeName is the name of the project tree in a workspace.
const TreeName = ".crystal"

// Workspace is the directory that a thread works in.
type Workspace struct {
	Path string // absolute, with symbolic links resolved: the workspace's identity
	Tree string // its project tree; blank when there is none or it is ignored
	// Project is where the project tree is or would be; blank when it may not be written to either.
	Project string
	Notes   []Note
}

// OpenWorkspace resolves path, which must be a directory. Nothing of the project tree is read but whether it may be used:
// a tree that leads out of the workspace, or is no directory, is ignored with a note; one that is the home directory
// itself is no project tree.
func OpenWorkspace(h Dir, path string) (Workspace, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Workspace{}, fmt.Errorf("%w: %w", ErrWorkspace, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return Workspace{}, fmt.Errorf("%w: %w", ErrWorkspace, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return Workspace{}, fmt.Errorf("%w: %w", ErrWorkspace, err)
	}
	if !info.IsDir() {
		return Workspace{}, fmt.Errorf("%w: %s is not a directory", ErrWorkspace, real)
	}
	ws := Workspace{Path: real, Project: filepath.Join(real, TreeName)}
	ws.findTree(h)
	return ws, nil
}

func (w *Workspace) findTree(h Dir) {
	ignore := func(why string) {
		w.Notes = append(w.Notes, warning(ProjectTreeIgnored, fmt.Sprintf("the project tree %s %s and is ignored", w.Project, why)))
		w.Project = ""
	}
	if _, err := os.Lstat(w.Project); err != nil {
		if h.same(w.Project) {
			w.Project = ""
		}
		return
	}
	real, err := filepath.EvalSymlinks(w.Project)
	if err != nil {
		ignore("is a link that leads nowhere")
		return
	}
	if h.same(real) {
		w.Project = ""
		return
	}
	if !inside(w.Path, real) {
		ignore("leads out of the workspace")
		return
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		ignore("is not a directory")
		return
	}
	w.Tree = w.Project
}

// same reports whether path is the home directory.
func (d Dir) same(path string) bool {
	if real, err := filepath.EvalSymlinks(string(d)); err == nil {
		return real == path || string(d) == path
	}
	return string(d) == path
}

// inside reports whether path, which is resolved, is dir or lies below it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
