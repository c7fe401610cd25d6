package model

// Purpose says what a model request is for.
type Purpose string

// The purposes.
const (
	Work       Purpose = "work"
	Plan       Purpose = "plan"
	Side       Purpose = "side"
	Compaction Purpose = "compaction"
	Review     Purpose = "review"
)

// Request is one model request, the same for every protocol.
//
// A request and all that it refers to is immutable: its item list is shared with the thread. Whoever wants another one
// copies the struct, and of the items only those that change.
type Request struct {
	Purpose Purpose
	Thread  string // thread id; blank outside of a thread
	Turn    string
	Agent   string // subagent; blank for the main agent
	Model   string // name of the model at its provider
	System  string // live system text
	Items   []*Item
	Tools   []Tool // sorted, as the model is to see them

	Gear            string   // thinking gear; blank or "default" sends nothing
	Temperature     *float64 // sent only when set
	TopP            *float64 // sent only when set
	MaxTokens       int      // output limit; 0 for none
	ReplayReasoning bool     // send earlier reasoning back where the protocol leaves the choice
	AcceptsImages   bool     // the model takes images
}

// Tool is a tool definition as a model sees it.
type Tool struct {
	Name        string // flat name
	Description string
	Schema      []byte // JSON Schema of the arguments, an object; keys in the order given
}

// Kind is the kind of an item.
type Kind string

// The kinds of items.
const (
	Message    Kind = "message"
	ToolCall   Kind = "tool_call"
	ToolResult Kind = "tool_result"
	Reasoning  Kind = "reasoning"
)

// Role of a message.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Status of a tool result. Only Success counts as success.
type Status string

// The statuses.
const (
	Success     Status = "success"
	Failure     Status = "failure"
	Denied      Status = "denied"
	Interrupted Status = "interrupted"
	TimedOut    Status = "timeout"
	Cancelled   Status = "cancelled"
)

// Item is one entry of the transcript. Which fields count depends on Kind. Items are immutable once they are part of a
// thread or a request.
type Item struct {
	ID        string    `json:"id,omitempty"` // "i1", "i2", … unique in the thread
	Kind      Kind      `json:"kind"`
	Role      Role      `json:"role,omitempty"`      // message
	Text      string    `json:"text,omitempty"`      // message, tool_result
	Images    []Image   `json:"images,omitempty"`    // message, tool_result
	CallID    string    `json:"callId,omitempty"`    // tool_call, tool_result
	Name      string    `json:"name,omitempty"`      // tool_call: flat name as the model sent it
	Arguments string    `json:"arguments,omitempty"` // tool_call: the exact text that the model sent, valid JSON or not
	Status    Status    `json:"status,omitempty"`    // tool_result
	Segments  []Segment `json:"segments,omitempty"`  // reasoning
	State     *State    `json:"state,omitempty"`     // tool_call, reasoning, message: opaque provider state
}

// Segment is one piece of reasoning.
type Segment struct {
	Text string      `json:"text"`
	Kind SegmentKind `json:"kind"`
}

// SegmentKind tells a summary of reasoning from its text.
type SegmentKind string

// The kinds of segments.
const (
	SegmentSummary SegmentKind = "summary"
	SegmentText    SegmentKind = "text"
)

// State is opaque state of a provider, kept byte for byte. Provider and Model say whose it is, so that another one does
// not send it back.
type State struct {
	Format   string `json:"format"` // the protocol that made it
	Data     []byte `json:"data"`
	Provider string `json:"provider,omitempty"`
}

// Image is an image of an item. Its place in the text is the marker (U+2063 and "[Image #N]").
type Image struct {
	Number    int    `json:"number"` // unique in the thread, never used again
	MediaType string `json:"mediaType"`
	SHA256    string `json:"sha256,omitempty"`
	Size      int    `json:"bytes,omitempty"`
	Data      []byte `json:"-"` // filled in for a request that carries it
}
