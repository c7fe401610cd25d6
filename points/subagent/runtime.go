package subagent

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// Profile is a kind of subagent that a model can start.
type Profile struct {
	Name        string   // ^[a-z][a-z0-9_-]{0,63}$
	Description string   // when it is of use; at most 4 KiB
	Runtime     string   // type of the runtime that serves it; set by the host for contributed profiles
	Prompt      string   // instructions of the subagent; at most 256 KiB
	Tools       []string // canonical names; nil: all of the parent's
	Model       string   // provider/model; blank: the parent's
}

// The bounds of a profile, in bytes.
const (
	MaxDescription = 4 << 10
	MaxPrompt      = 256 << 10
)

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// Check says what is wrong with a profile; nil: nothing.
func (p Profile) Check() error {
	switch {
	case !namePattern.MatchString(p.Name):
		return fmt.Errorf("the profile name %.80q is not a lower-case letter followed by letters, digits, _ or -", p.Name)
	case len(p.Description) > MaxDescription:
		return fmt.Errorf("the description of the profile %s is longer than %d bytes", p.Name, MaxDescription)
	case len(p.Prompt) > MaxPrompt:
		return fmt.Errorf("the prompt of the profile %s is longer than %d bytes", p.Name, MaxPrompt)
	}
	return nil
}

// Spec says what subagent is wanted.
type Spec struct {
	Thread    string // the parent's
	Turn      string // the parent's
	CallID    string // the call that starts it
	Own       string // the thread of the subagent itself: its calls carry this id
	Workspace string
	Profile   Profile
}

// Input is one task for a subagent.
type Input struct {
	Text string
	// Call runs a tool for the subagent, by its canonical name: it goes through dispatch like every call, within what the
	// profile allows, and with the id of the call that started the subagent as its parent. A refusal or a failure is a
	// result. It fails with tool.ErrEnded once Run has returned. Calls may overlap, and end with the run.
	Call func(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error)
}

// Outcome is what a subagent came to.
type Outcome struct {
	Text   string // what the task comes to; it becomes the result of the call that started the subagent
	Failed bool   // the task was not done; Text says why
}

// Event is the progress of a run: a text that the operator may see. Calls of tools are told by the kernel.
type Event struct {
	Text string // 4 KiB of it are shown
}

// MaxEvent is how many bytes of the text of an event are shown.
const MaxEvent = 4 << 10

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

// Session is one subagent, for one task. What the host holds of a plugin's session is a token: a runtime that returns the
// session of another one is refused.
//
// Run does the task and is called once; nil is an outcome without text. It has no deadline, and ends with its ctx. Cancel is
// called beside Run when that is done. Close follows when Run has returned. emit may be called by one goroutine at a time,
// while Run runs; it fails afterwards.
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
