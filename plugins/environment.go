package plugins

import "sync/atomic"

// Environment is a live, read-only picture of the catalogs of the host. A constructor may ask for it, keep it, and read
// it at any time from any goroutine. It is empty before the host has attached its catalogs for the first time. Reading
// it declares no dependency. The zero value is empty for ever.
type Environment struct{ live *liveCatalog }

type liveCatalog struct{ current atomic.Pointer[Catalog] }

// Catalog returns the newest picture. Its slices are shared and must not be changed.
func (e Environment) Catalog() Catalog {
	if e.live == nil {
		return Catalog{}
	}
	if c := e.live.current.Load(); c != nil {
		return *c
	}
	return Catalog{}
}

// Catalog is what a host has loaded. No file path, manifest content, Go type or file body appears in it.
type Catalog struct {
	Plugins       []Listed
	ToolSets      []Listed
	ExternalTools []ExternalTool
	Skills        []Skill
}

// Listed is one directory of a catalog, or one plugin that has none.
type Listed struct {
	Directory  string // blank for a plugin without a directory
	Source     Source
	ID         string // blank for tool sets
	Name       string // display name; blank until loaded, and for tool sets
	Enabled    *bool  // nil when unknown
	Effective  bool   // false when another directory hides it
	Loaded     bool
	SkipReason string // why it is not loaded
}

// ExternalTool is one tool of an external tool set that loaded.
type ExternalTool struct {
	Name, Set  string
	Source     Source
	Plan, Work bool
}

// Skill is one skill that can be loaded now.
type Skill struct{ Name, Description string }
