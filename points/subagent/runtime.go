package subagent

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Profile is a kind of subagent that a model can start.
type Profile struct {
	Name        string // ^[a-z][a-z0-9_-]{0,63}$
	Description string
	Runtime     string   // type of the runtime that serves it
	Prompt      string   // instructions of the subagent
	Tools       []string // canonical names; nil: all of the parent's
	Model       string   // provider/model; blank: the parent's
}

// Spec says what subagent is wanted.
type Spec struct {
	Thread    string // the parent's
	Turn      string
	CallID    string // the call that starts it
	Workspace string
	Profile   Profile
	Depth     int
}

// Input is one task for a subagent.
type Input struct {
	Text string
}

// Outcome is what a subagent came to.
type Outcome struct {
	Text   string
	Failed bool
	Thread string // the child thread, when there is one
}

// Event is the progress of a run.
type Event struct {
	Kind   string // text, tool, note
	Text   string
	Tool   string
	CallID string
}

// Source offers a runtime and the profiles that it serves. Both are read once, at the add.
type Source interface {
	Runtime() Runtime
	Profiles() []Profile
}

// Runtime runs subagents of one type. Tool calls of a subagent go through the kernel's dispatch.
type Runtime interface {
	Type() string // ^[a-z][a-z0-9_-]{0,63}$
	Create(ctx context.Context, s Spec) (Session, error)
}

// Session is one subagent. A session is refused by every runtime but its own.
type Session interface {
	Run(ctx context.Context, in Input, emit func(Event) error) (*Outcome, error)
	Cancel(ctx context.Context) error
	Close(ctx context.Context) error
}

// Runtimes is the point subagent.runtime.
var Runtimes = contrib.Define(contrib.Spec[Source]{
	Name: "subagent.runtime", Doc: "Runs subagents of one type, and offers profiles for it.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.Materialised, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Describe: describe,
	Guard:    guard,
})
