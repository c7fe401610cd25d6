package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Source offers tools. Tools is called once per planning pass, and for a plugin again at every call: it must be quick and
// change nothing. Calls may overlap.
type Source interface {
	SourceID() string // 1 to 128 bytes, not blank
	Tools(ctx context.Context, p Planning) ([]Registration, error)
}

// ThreadReleaser is for a source that wants to know when a thread is released.
type ThreadReleaser interface {
	ReleaseThread(ctx context.Context, thread string) error
}

// ThreadForker is for a source that wants to know when a thread is forked; it reports whether it took part.
type ThreadForker interface {
	ForkThread(ctx context.Context, from, to string) (bool, error)
}

// Registration joins a definition to its binding.
type Registration struct {
	Definition Definition
	Binding    Binding
}

// Binding is the code behind a definition.
type Binding struct {
	Runtime     Runtime
	Lease       Lease         // nil: always available
	Unavailable bool          // registered and not published
	Timeout     time.Duration // of one invocation; 0: 120 s; Unlimited for none (the host's own only); at most 24 h
	Grace       time.Duration // after a cancellation; 0: two seconds (other values for built-ins only)
	ID          string        // binding id, set by the host

	// Inline says that Runtime only computes: it waits for nothing and returns within a moment. It is then run on the
	// goroutine of the turn, which saves handing the call over, and nothing can leave it behind: Timeout is not enforced.
	// It is for tools that the host itself vouches for, and is dropped for plugins and external tool sets.
	Inline bool

	// Classify is the fixed rule of a built-in tool or an external tool set. It is dropped for plugins, which are
	// classified by tool.classifier and their hints.
	Classify func(ctx context.Context, c Call, workspace string) Classification
}

// Unlimited is the timeout of a tool that may run as long as the turn.
const Unlimited time.Duration = -1

// Lease says whether a binding can be served now. Check is asked before every call and has to be quick; calls may
// overlap. An error makes the call unavailable; its text goes to the log file alone.
type Lease interface {
	Check(ctx context.Context) error
}

// LeaseFunc adapts a function to Lease.
type LeaseFunc func(ctx context.Context) error

// Check calls f.
func (f LeaseFunc) Check(ctx context.Context) error { return f(ctx) }

// Runtime runs a tool. Calls may overlap; each owns its invocation, and gives its result away. Expected failures belong
// in a failed Result; an error is reported to the model with a fixed text alone. When ctx is done because the turn was
// cancelled, the runtime has two seconds to return a result of its own; at its timeout it has none. What it returns later
// is dropped.
type Runtime interface {
	Invoke(ctx context.Context, i Invocation) (Result, error)
}

// RuntimeFunc adapts a function to Runtime.
type RuntimeFunc func(ctx context.Context, i Invocation) (Result, error)

// Invoke calls f.
func (f RuntimeFunc) Invoke(ctx context.Context, i Invocation) (Result, error) { return f(ctx, i) }

// Planning is the input of a planning pass.
type Planning struct {
	Thread     string
	Turn       string
	ThreadKind string // agent or subagent
	Workspace  string
	Data       DataDirs
	Catalog    Catalogs // CatalogPlan or CatalogWork
	Profile    string
	Provider   string
	Model      string
	Images     bool   // the model takes images
	Revision   uint64 // of the tool source point
}

// DataDirs are the data directories of the owner of a tool; blank when there are none.
type DataDirs struct {
	Global, Project string
}

// Invocation is one call of a tool.
type Invocation struct {
	Thread, Turn     string
	CallID, ParentID string
	Tool             Key
	Arguments        json.RawMessage // validated and coerced
	Workspace        string
	Mode             string // work or plan
	Approval         string // approval mode as it is at this call
	Data             DataDirs
	Images           bool           // the turn takes images
	Approved         Classification // what policy and approval decided on

	// Call dispatches another tool with this call as parent: policy, approval, hooks and recording apply. It refuses use
	// after the invocation has ended.
	Call func(ctx context.Context, name string, arguments json.RawMessage) (Result, error)
	// Progress tells clients how far the call is. It refuses use after the invocation has ended.
	Progress func(text string)
}

// SourceFunc adapts a function to Source.
func SourceFunc(id string, tools func(ctx context.Context, p Planning) ([]Registration, error)) Source {
	return sourceFunc{id, tools}
}

type sourceFunc struct {
	id    string
	tools func(context.Context, Planning) ([]Registration, error)
}

func (s sourceFunc) SourceID() string { return s.id }
func (s sourceFunc) Tools(ctx context.Context, p Planning) ([]Registration, error) {
	return s.tools(ctx, p)
}

// Names and orders of the built-in sources in listings.
const (
	SourceBuiltin  = "tools:builtin"
	SourceExternal = "tools:external"
	SourceSkill    = "tools:skill"
)

// Sources is the point tool.source.
var Sources = contrib.Define(contrib.Spec[Source]{
	Name: "tool.source", Doc: "Offers tools to the model, the host and programs.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.Materialised, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Targets: []contrib.Target{
		{Name: SourceBuiltin, Order: 100, Doc: "The built-in tools."},
		{Name: SourceExternal, Order: 800, Doc: "External tool sets."},
		{Name: SourceSkill, Order: 900, Doc: "The skill tool."},
	},
	Describe: describeSource,
	Guard:    guardSource,
})
