package host

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Environment is a read-only picture of the catalogs of a host. It enables, disables and invokes nothing. Empty before
// the first attach.
type Environment struct {
	Plugins       []Plugin
	ToolSets      []ToolSet
	ExternalTools []ExternalTool
	Skills        []Skill
}

// Plugin is one plugin, or one directory that names one.
type Plugin struct {
	Directory   string // blank for source host
	Source      string // host, home or project
	ID          string
	DisplayName string // blank until loaded
	Enabled     *bool  // nil when the manifest could not say
	Effective   bool
	Loaded      bool
	SkipReason  string
}

// ToolSet is one external tool set.
type ToolSet struct {
	Directory  string
	Source     string
	Enabled    *bool
	Effective  bool
	Loaded     bool
	SkipReason string
}

// ExternalTool is a tool of an external tool set that loaded.
type ExternalTool struct {
	Name, Set, Source string
	Plan, Work        bool
}

// Skill is a skill that can be loaded.
type Skill struct {
	Name, Description string
}

// Attached is called once the catalogs are loaded, again at every reload, and before the hooks of a session's start. The
// environment is a copy.
type Attached interface {
	Attached(ctx context.Context, e Environment) error
}

// AttachedFunc makes a Attached of a function.
func AttachedFunc(f func(ctx context.Context, e Environment) error) Attached {
	return attachedFunc(f)
}

type attachedFunc func(ctx context.Context, e Environment) error

func (f attachedFunc) Attached(ctx context.Context, e Environment) error { return f(ctx, e) }

// Attachments is the point host.attached.
var Attachments = contrib.Define(contrib.Spec[Attached]{
	Name: "host.attached", Doc: "Is told the catalogs of the host once they are loaded.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardAttached,
})
