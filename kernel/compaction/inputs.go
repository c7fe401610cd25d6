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

// Reason says why a compaction runs.
type Reason string

// The reasons.
const (
	Automatic Reason = "automatic" // the limit was reached
	Overflow  Reason = "overflow"  // the provider said that the context is too long
	ByHand    Reason = "manual"    // the operator asked
)

// Inputs are all that one compaction works with. Log, Client and Summarizers must be set.
type Inputs struct {
	Reason    Reason
	Hint      string // by hand: what to keep in mind
	Thread    string
	Turn      string // blank between turns
	Workspace string
	Provider  string

	Log      *threadlog.Log
	Settings Settings
	Load     Load           // of the request as it stands
	Sends    estimate.Sends // what the model is sent beside text

	// Client asks the model; normal retries are part of it.
	Client model.Client
	// Request is what the summary request is made from: Model, Gear, Temperature and TopP. Its other fields are set here.
	Request model.Request

	// Summarizers reads compaction.summarizer, and Policies compaction.tool_policy, in the newest view.
	Summarizers func() []contrib.Entry[compaction.Summarizer]
	Policies    func() []contrib.Entry[compaction.ToolPolicy]

	// Hooks of the summary request. A nil function changes nothing.
	Hooks Hooks
	// Prompt makes the system and the user text of the summary request; nil stands for [Parts.Bind] with the built-in
	// templates.
	Prompt func(ctx context.Context, p Parts) (system, user string, err error)
	// Note is told what the operator should know; nil: nobody is.
	Note func(code, message string)
	// Report is told about a tool policy that failed; nil: nobody is.
	Report contrib.Report
}

// Hooks run the hook points for a compaction. A hook that fails is no error; an error ends the compaction.
type Hooks struct {
	// Model runs the model hooks, with purpose compaction, over the items that are to be summarised. The list it gets
	// must not be changed.
	Model func(ctx context.Context, items []*model.Item) ([]*model.Item, error)
	// Response shows the model's answer to the observers.
	Response func(ctx context.Context, r *model.Response) error
	// Text runs the text hooks of a phase: those that append, then those that replace.
	Text func(ctx context.Context, p hook.Phase, text string) (string, error)
}

func (h *Hooks) items(ctx context.Context, items []*model.Item) ([]*model.Item, error) {
	if h.Model == nil {
		return items, nil
	}
	return h.Model(ctx, items)
}

func (h *Hooks) response(ctx context.Context, r *model.Response) error {
	if h.Response == nil {
		return nil
	}
	return h.Response(ctx, r)
}

func (h *Hooks) text(ctx context.Context, p hook.Phase, text string) (string, error) {
	if h.Text == nil {
		return text, nil
	}
	return h.Text(ctx, p, text)
}
