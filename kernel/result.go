package kernel

import (
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
)

// StopReason says why a turn ended. Other values than these do not occur; readers treat an unknown one as a failure.
type StopReason string

// The stop reasons.
const (
	Completed             StopReason = "completed"                // the model answered without calls
	Failed                StopReason = "failed"                   // provider, log or kernel failure
	ContentFiltered       StopReason = "content_filtered"         // the provider withheld content
	OutputTruncated       StopReason = "output_truncated"         // the provider cut the answer at its length limit
	ModelCallLimitReached StopReason = "model_call_limit_reached" // model rounds used up
	ToolCallLimitReached  StopReason = "tool_call_limit_reached"  // the next batch does not fit into the calls left
	DurationLimitReached  StopReason = "duration_limit_reached"   // time used up
	ContextOverflow       StopReason = "context_overflow"         // compaction cannot make room
	LoopDetected          StopReason = "loop_detected"            // the model repeats one call and does not stop
	Interrupted           StopReason = "interrupted"              // cancelled by the caller
)

// Result is how a turn ended.
type Result struct {
	Turn       string      `json:"turnId"`
	Stop       StopReason  `json:"reason"`
	Text       string      `json:"text,omitempty"` // reply text of the last round
	ModelCalls int         `json:"modelCalls"`
	ToolCalls  int         `json:"toolCalls"`
	Denials    int         `json:"denials"`
	Usage      model.Usage `json:"usage"`
	Window     int         `json:"contextWindow"`

	// Err is the cause of Failed, ContextOverflow and Interrupted, where there is one.
	Err error `json:"-"`
}

// status is what observers of turns are told.
func (r StopReason) status() thread.Status {
	switch r {
	case Completed, OutputTruncated, ModelCallLimitReached, ToolCallLimitReached, LoopDetected:
		return thread.Completed
	case Interrupted, DurationLimitReached:
		return thread.Cancelled
	}
	return thread.Failed
}
