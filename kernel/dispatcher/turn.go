package dispatcher

import (
	"sync"
	"sync/atomic"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/tool"
)

// DefaultOutputLimit is how many characters of one result reach the model when the turn names no limit.
const DefaultOutputLimit = 100_000

// Turn is what all calls of one turn share. Its fields must not change while calls run, and it must not be copied after
// the first call. Functions may be called by several goroutines.
type Turn struct {
	Thread, Turn string
	Agent        string // subagent; blank for the main agent
	Workspace    string
	Mode         string        // work or plan
	Approval     func() string // approval mode, read anew at each call; nil: blank
	Snapshot     *toolset.Snapshot
	DataDirs     func(tool.Key) tool.DataDirs // nil: none
	Images       bool                         // the model takes images
	OutputLimit  int                          // characters of one result; 0: DefaultOutputLimit

	// TakeBudget takes one call of the turn's budget for a subcall; false refuses it. nil: no limit.
	TakeBudget func() bool
	// BeforeStart makes the durable record of a call, subcalls included, before its tool starts. An error refuses to run
	// it. nil: there is none to make.
	BeforeStart func(Call) error
	// Result is told how a subcall ended. nil: nobody.
	Result func(Outcome)
	// Progress is told what a running tool says about itself. nil: nobody.
	Progress func(callID, text string)
	// Report receives entries that failed and were skipped. nil drops them.
	Report contrib.Report
	// Note receives what the operator should know. nil drops it.
	Note func(contrib.Diagnostic)

	rewriting sync.Mutex  // hook.tool_call sees one call of a turn at a time
	noImages  atomic.Bool // the note about images of a hook was made
}

// Begin prepares the description of a thread's last turn for its next one. No call of the last turn may be running.
func (t *Turn) Begin(id, mode string, s *toolset.Snapshot, images bool, outputLimit int) {
	t.Turn, t.Mode, t.Snapshot, t.Images, t.OutputLimit = id, mode, s, images, outputLimit
	t.noImages.Store(false)
}

// Request is one call as it was asked for.
type Request struct {
	ID, ParentID string
	Name         string // flat name for the model, canonical name for host and app
	Arguments    string // the exact text
	Audience     tool.Audiences
	Depth        int // 0 for a call of the model, 1 for a call that its tool makes
}

func (t *Turn) report() contrib.Report {
	if t.Report == nil {
		return func(*contrib.EntryInfo, *contrib.CallError) {}
	}
	return t.Report
}

func (t *Turn) note(d contrib.Diagnostic) {
	if t.Note != nil {
		t.Note(d)
	}
}

func (t *Turn) limit() int {
	if t.OutputLimit <= 0 {
		return DefaultOutputLimit
	}
	return t.OutputLimit
}

func (t *Turn) scope() hook.Scope {
	return hook.Scope{Thread: t.Thread, Turn: t.Turn, Workspace: t.Workspace, Agent: t.Agent}
}
