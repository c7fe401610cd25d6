package compaction

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
)

// CompactionFailed is the code of the note that no summary was stored.
const CompactionFailed = "CompactionFailed"

// Reason says why a compaction runs.
type Reason string

// The reasons.
const (
	Automatic Reason = "automatic" // the limit was reached
	Overflow  Reason = "overflow"  // the provider said that the context is too long
	ByHand    Reason = "manual"    // the operator asked
)

// Inputs are all that one compaction works with.
type Inputs struct {
	Reason    Reason
	Hint      string // by hand: what to keep in mind
	Thread    string
	Turn      string // blank between turns
	Workspace string
	Provider  string
	Model     string

	Log      *threadlog.Log
	Settings Settings
	Load     Load           // of the request as it stands
	Sends    estimate.Sends // what the model is sent

	// Client asks the model; normal retries are part of it.
	Client model.Client
	// Gear, Temperature and TopP of the summary request; its other fields are set here.
	Template model.Request

	// Summarizers and Policies read the points in the newest view.
	Summarizers func() []contrib.Entry[compaction.Summarizer]
	Policies    func() []contrib.Entry[compaction.ToolPolicy]

	// Hooks of the summary request. A nil function changes nothing.
	Hooks Hooks
	// Prompt makes system and user text of the summary request; nil stands for the built-in texts.
	Prompt func(ctx context.Context, p Parts) (system, user string, err error)
	// Note is told what the operator should know; nil: nobody.
	Note func(code, message string)
	// Report is told about a tool policy that failed; nil: nobody.
	Report contrib.Report
}

// Hooks run the hook points for a compaction. An error ends the compaction; failures of single hooks are no errors.
type Hooks struct {
	// Model runs the model hooks over the items that are to be summarised, with purpose compaction.
	Model func(ctx context.Context, items []*model.Item) ([]*model.Item, error)
	// Response shows the model's answer to the observers.
	Response func(ctx context.Context, r *model.Response) error
	// Text runs the text hooks of a phase: those that append, then those that replace.
	Text func(ctx context.Context, p hook.Phase, text string) (string, error)
}

// Result says what a compaction came to.
type Result string

// The results.
const (
	Applied   Result = "applied"   // something was pruned or summarised
	Unchanged Result = "unchanged" // there was nothing to do
	Exhausted Result = "exhausted" // there was something to do and it could not be done
	Nothing   Result = "nothing"   // by hand: there is nothing earlier to compact
)

// Outcome is what a compaction came to.
type Outcome struct {
	Result     Result
	Pruned     int  // tokens freed by dropping old tool output
	Summarised bool // a summary was stored
	Before     int  // tokens of the request, by estimate
	After      int
	Fits       bool   // the request leaves room for an answer; if not, the turn ends as context_overflow
	Largest    string // when it does not fit: the two largest parts with their estimates, for the message
	Failure    error  // why no summary was stored; nil when none was wanted
	Usage      *model.Usage
}

// Run compacts a thread. An error is returned when ctx is done, or when the log can't be written; every other failure is
// part of the outcome, and leaves the history as it was.
func Run(ctx context.Context, in Inputs) (Outcome, error) { panic("stub") }

// Parts are what the prompt of a summary request is made of.
type Parts struct {
	Conversation string
	PriorSummary string // section with the earlier summary; blank without one
	Task         string // blank when there is an earlier summary
	Template     string // the wanted headings
	Todos        string // section with the open todos; blank without any
	Hint         string // what the operator asks to keep in mind: added at the end by the caller
}

// Module contributes the built-in summariser and the built-in tool policy.
var Module = contrib.ProvideSet(func() contrib.Set { panic("stub") })
