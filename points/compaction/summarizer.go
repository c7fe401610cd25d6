package compaction

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/model"
)

// Scope says how much of a thread a summary is to replace.
type Scope string

// The scopes.
const (
	Partial Scope = "partial" // the older items; the newer ones stay as they are
	Full    Scope = "full"    // all items
)

// Request asks for a summary. It and what it refers to must not be changed.
type Request struct {
	Thread    string
	Turn      string // blank between turns
	Workspace string
	Provider  string // of the thread's model
	Model     string

	Scope Scope
	Items []*model.Item // what is to be summarised, oldest first, as the model hooks left it
	Prior string        // body of the earlier summary, which the new one replaces too; blank: none
	Todos []Todo        // those that are neither completed nor cancelled
	Hint  string        // what the operator asks to keep in mind; blank: nothing
	Limit int           // tokens, by estimate, that the thread may have afterwards; a summary must be well below

	// Local asks the thread's model for a summary of this request, as [LocalSummary] does, and returns its text. It can
	// be called while Summarize runs, and fails afterwards.
	Local func(ctx context.Context) (string, error)
}

// Todo is one open entry of the thread's todo list.
type Todo struct {
	Content  string
	Status   string
	Priority string
}

// Summary is what a summariser made.
type Summary struct {
	Text string // body, without a heading of its own
	// Keep holds ids of the last items of the request, in order and without a gap: they follow the summary instead of
	// being replaced by it. Empty keeps none.
	Keep []string
}

// Summarizer makes summaries.
//
// Summarize returns nil to decline. One that declines the partial scope is asked once more with the full scope. An error
// or a panic fails the compaction, and the thread stays as it was. Calls for different threads may overlap. There is no
// deadline but that of ctx.
type Summarizer interface {
	Summarize(ctx context.Context, r Request) (*Summary, error)
}

// SummarizerFunc makes a Summarizer of a function.
func SummarizerFunc(f func(ctx context.Context, r Request) (*Summary, error)) Summarizer {
	return summarizerFunc(f)
}

type summarizerFunc func(ctx context.Context, r Request) (*Summary, error)

func (f summarizerFunc) Summarize(ctx context.Context, r Request) (*Summary, error) { return f(ctx, r) }

// LocalSummary is the target of the built-in summariser, which asks the thread's own model.
const LocalSummary = "local-summary"

// Summarizers is the point compaction.summarizer: the last entry of the list has authority.
var Summarizers = contrib.Define(contrib.Spec[Summarizer]{
	Name: "compaction.summarizer", Doc: "Makes the summary that takes the place of older turns; the last entry has authority.",
	Tiers: contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Fail,
	Targets: []contrib.Target{{Name: LocalSummary, Order: 100, Doc: "Asks the thread's own model."}},
	Guard:   guardSummarizer,
})
