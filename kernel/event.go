package kernel

import (
	"encoding/json"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// Event is one thing that happened in a turn. The event types of this package are all that there are; a stream of them
// is complete enough to draw the turn from. Readers must ignore types and fields that they do not know.
type Event interface {
	// Type is the word that stands for the event in its JSON form.
	Type() string
	event()
}

// TurnStarted is the first event: the user message is stored.
type TurnStarted struct {
	Turn     string `json:"turnId"`
	Thread   string `json:"threadId"`
	Mode     string `json:"mode"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Text     string `json:"text"` // the user message as stored
}

// RoundStarted says that a request goes to the model.
type RoundStarted struct {
	Turn  string `json:"turnId"`
	Round int    `json:"round"` // 1, 2, …
}

// TextDelta is a piece of the reply as it streams in. It belongs to a candidate that is not committed yet: a Retrying event
// takes back what came since RoundStarted.
type TextDelta struct {
	Text string `json:"text"`
}

// ReasoningDelta is a piece of the model's reasoning.
type ReasoningDelta struct {
	Text    string `json:"text"`
	Segment int    `json:"segment"`
	Summary bool   `json:"summary,omitempty"`
}

// CallDelta is a piece of a call as it streams in: Start carries the name, Arguments a piece of them, End closes it.
type CallDelta struct {
	CallID    string `json:"callId"`
	Start     bool   `json:"start,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	End       bool   `json:"end,omitempty"`
}

// Retrying says that an attempt failed and the same request is sent again after Delay.
type Retrying struct {
	Attempt int           `json:"attempt"` // 1 for the first retry
	Message string        `json:"message"`
	Delay   time.Duration `json:"delay"`
}

// RoundCommitted says that a candidate is complete and part of the thread.
type RoundCommitted struct {
	Turn      string       `json:"turnId"`
	Round     int          `json:"round"`
	Text      string       `json:"text,omitempty"`
	Reasoning string       `json:"reasoning,omitempty"`
	Calls     int          `json:"calls"`
	Finish    model.Finish `json:"finish"`
	Usage     *model.Usage `json:"usage,omitempty"`
}

// CallPending says that a call is about to go through dispatch.
type CallPending struct {
	CallID    string `json:"callId"`
	ParentID  string `json:"parentCallId,omitempty"`
	Agent     string `json:"agent,omitempty"` // profile of the subagent whose call it is
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ApprovalAsked says that the operator is asked about a call. Its texts are safe to print.
type ApprovalAsked struct {
	CallID    string     `json:"callId"`
	ParentID  string     `json:"parentCallId,omitempty"`
	Agent     string     `json:"agent,omitempty"` // profile of the subagent whose call it is
	Tool      string     `json:"tool"`
	Owner     string     `json:"owner,omitempty"` // who brought the tool
	Arguments []Argument `json:"arguments,omitempty"`
	Class     string     `json:"class"`
	Summary   string     `json:"summary,omitempty"`
	Reason    string     `json:"reason"`
	Rationale string     `json:"rationale,omitempty"` // of the reviewer
	Storable  bool       `json:"storable"`            // the answer may hold for calls like it
	Covers    string     `json:"covers,omitempty"`    // what it would hold for
}

// Argument is one argument of a call, as printable text in full.
type Argument struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ApprovalAnswered says that the prompt of a call is over. Each ApprovalAsked is followed by one, also when the turn was
// cancelled meanwhile.
type ApprovalAnswered struct {
	CallID   string `json:"callId"`
	ParentID string `json:"parentCallId,omitempty"`
	Agent    string `json:"agent,omitempty"` // profile of the subagent whose call it is
	Allowed  bool   `json:"allowed"`
	By       string `json:"by,omitempty"`    // blank: nobody decided
	Scope    string `json:"scope,omitempty"` // once, session or persistent
}

// CallStarted says that a call was allowed and its tool runs.
type CallStarted struct {
	CallID   string `json:"callId"`
	ParentID string `json:"parentCallId,omitempty"`
	Agent    string `json:"agent,omitempty"` // profile of the subagent whose call it is
	Name     string `json:"name"`
	Summary  string `json:"summary,omitempty"`
	By       string `json:"by,omitempty"` // who allowed it
}

// CallProgress is what a running tool says about itself.
type CallProgress struct {
	CallID string `json:"callId"`
	Agent  string `json:"agent,omitempty"` // profile of the subagent whose call it is
	Text   string `json:"text"`
}

// CallEnded is the one terminal event of a call: its result is stored.
type CallEnded struct {
	CallID     string          `json:"callId"`
	ParentID   string          `json:"parentCallId,omitempty"`
	Agent      string          `json:"agent,omitempty"` // profile of the subagent whose call it is
	Name       string          `json:"name"`
	Arguments  string          `json:"arguments"`          // as the tool was called
	Original   *CallForm       `json:"original,omitempty"` // as the model sent it, when hooks changed it
	Status     model.Status    `json:"status"`
	Code       string          `json:"code,omitempty"`
	Text       string          `json:"text"` // what the model is told
	Structured json.RawMessage `json:"structured,omitempty"`
	Error      *tool.Error     `json:"error,omitempty"`
	Risk       string          `json:"risk,omitempty"`
	Authority  string          `json:"authority,omitempty"`
	By         string          `json:"by,omitempty"`
	Executed   bool            `json:"executed"`
	Denied     bool            `json:"denied,omitempty"` // counted as a denial
	OutputPath string          `json:"outputPath,omitempty"`
	Duration   time.Duration   `json:"duration"`
}

// CallForm is name and arguments of a call.
type CallForm struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Noted carries one line for the operator. It stops nothing.
type Noted struct {
	Code     string           `json:"code"`
	Severity contrib.Severity `json:"severity"`
	Plugin   string           `json:"plugin,omitempty"`
	Point    string           `json:"point,omitempty"`
	Label    string           `json:"label,omitempty"`
	Agent    string           `json:"agent,omitempty"` // profile of the subagent that it is about
	Message  string           `json:"message"`
	Params   map[string]any   `json:"params,omitempty"`
}

// Compacted says that the thread was pruned or summarised.
type Compacted struct {
	Reason     string `json:"reason"`
	Before     int    `json:"before"` // tokens
	After      int    `json:"after"`
	Summarised bool   `json:"summarised"`
}

// Failure says why a turn ends as failed, and holds what the last attempt brought.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Partial string `json:"partial,omitempty"`
}

// TurnEnded is the last event.
type TurnEnded struct {
	Result
}

// Type returns the event's word.
func (TurnStarted) Type() string      { return "turn_started" }
func (RoundStarted) Type() string     { return "round_started" }
func (TextDelta) Type() string        { return "text_delta" }
func (ReasoningDelta) Type() string   { return "reasoning_delta" }
func (CallDelta) Type() string        { return "call_delta" }
func (Retrying) Type() string         { return "retrying" }
func (RoundCommitted) Type() string   { return "round_committed" }
func (CallPending) Type() string      { return "call_pending" }
func (ApprovalAsked) Type() string    { return "approval_asked" }
func (ApprovalAnswered) Type() string { return "approval_answered" }
func (CallStarted) Type() string      { return "call_started" }
func (CallProgress) Type() string     { return "call_progress" }
func (CallEnded) Type() string        { return "call_ended" }
func (Noted) Type() string            { return "note" }
func (Compacted) Type() string        { return "compacted" }
func (Failure) Type() string          { return "failure" }
func (TurnEnded) Type() string        { return "turn_ended" }

func (TurnStarted) event()      {}
func (RoundStarted) event()     {}
func (TextDelta) event()        {}
func (ReasoningDelta) event()   {}
func (CallDelta) event()        {}
func (Retrying) event()         {}
func (RoundCommitted) event()   {}
func (CallPending) event()      {}
func (ApprovalAsked) event()    {}
func (ApprovalAnswered) event() {}
func (CallStarted) event()      {}
func (CallProgress) event()     {}
func (CallEnded) event()        {}
func (Noted) event()            {}
func (Compacted) event()        {}
func (Failure) event()          {}
func (TurnEnded) event()        {}

// MarshalEvent returns the event as one JSON object whose first member is its type.
func MarshalEvent(e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	head := append([]byte(`{"type":"`), e.Type()...)
	if len(body) == 2 { // {}
		return append(head, `"}`...), nil
	}
	return append(append(head, `",`...), body[1:]...), nil
}
