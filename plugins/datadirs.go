package plugins

import (
	"context"
	"fmt"
)

// Directories are the two data directories of one plugin, as paths.
type Directories struct {
	Home      string // shared by all workspaces
	Workspace string // of this workspace; blank when there is none
}

// DataDirs gives a plugin its data directories. A constructor may ask for it. The host tries to make both before the
// constructors run; a plugin makes the one that is missing. They outlive generations, versions and removal, and are no
// place for secrets. Once the generation has been told to stop, both answer an error that matches
// generations.ErrStopping.
type DataDirs struct {
	dirs  Directories
	alive context.Context
}

// Home returns the directory that all workspaces share.
func (d DataDirs) Home() (string, error) { return d.answer("home", d.dirs.Home) }

// Workspace returns the directory of this workspace.
func (d DataDirs) Workspace() (string, error) { return d.answer("workspace", d.dirs.Workspace) }

func (d DataDirs) answer(which, path string) (string, error) {
	if d.alive == nil {
		return "", fmt.Errorf("plugins: no %s data directory: the plugin is not running in a host", which)
	}
	if d.alive.Err() != nil {
		return "", fmt.Errorf("plugins: no %s data directory: %w", which, context.Cause(d.alive))
	}
	if path == "" {
		return "", fmt.Errorf("plugins: this host has no %s data directory", which)
	}
	return path, nil
}
