package hook

import (
	"encoding/json"

	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// Scope says where a hook is called: every input carries it.
type Scope struct {
	Thread    string
	Turn      string // blank outside a turn
	Workspace string
	Agent     string // subagent; blank for the main agent
}

// Session is one stretch during which a thread is open in one host process.
type Session struct {
	Scope
	Approval string // approval mode
}

// Turn describes a turn. StopReason is set at the end only.
type Turn struct {
	Scope
	Mode       string
	UserText   string // as stored
	StopReason string
}

// PromptInfo describes the prompt that is being composed.
type PromptInfo struct {
	Scope
	Mode string // work, plan, review, compaction, image
}

// Item is a transcript item as hooks see it: text and references, never bytes.
type Item struct {
	ID        string // decimal index in this request; it means nothing in another one
	Kind      model.Kind
	Role      model.Role // message
	Text      string     // message, tool_result, reasoning
	Images    []ImageRef // message, tool_result
	CallID    string     // tool_call, tool_result
	Name      string     // tool_call, tool_result
	Arguments string     // tool_call: the text as the model sent it
	Success   bool       // tool_result
}

// ImageRef names an image of the thread.
type ImageRef struct {
	Number    int
	MediaType string
}

// Request is a model request as hooks see it.
type Request struct {
	Scope
	Purpose       model.Purpose
	AcceptsImages bool
	Items         []Item
}

// Response is a candidate as hooks see it.
type Response struct {
	Scope
	Purpose model.Purpose
	Finish  model.Finish
	Items   []Item
	Usage   *model.Usage
}

// Call is a tool call as hooks see it.
type Call struct {
	Scope
	ID, ParentID string
	Tool         string // name
	Arguments    json.RawMessage
}

// Result is a tool result as hooks see it.
type Result struct {
	Text    string
	Success bool
	Images  []Image // nil: unchanged
}

// Image carries bytes: only hook.tool_result sees them.
type Image struct {
	MediaType string
	Data      []byte
}

// Advice raises what is known about a call. A lower risk is ignored with a note.
type Advice struct {
	Risk          *tool.Risk
	RequirePrompt bool
}

// Phase of a compaction.
type Phase string

// The phases.
const (
	PhasePrompt  Phase = "prompt"  // the user prompt of the summary request
	PhaseSummary Phase = "summary" // the body to be stored
)
