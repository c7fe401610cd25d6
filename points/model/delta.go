package model

import "time"

// DeltaKind is the kind of a delta.
type DeltaKind uint8

// The kinds of deltas.
const (
	TextDelta      DeltaKind = iota + 1 // Text
	ReasoningDelta                      // Text, Segment, Index (segment number)
	CallStart                           // Index (position), ID, Name
	CallArguments                       // Index, ID, Text
	CallEnd                             // Index, ID
	StateDelta                          // State, for the item that Index and For name
	UsageDelta                          // Usage
	FinishDelta                         // Finish, Raw
	RetryDelta                          // Attempt, Delay, Text (message): what came before belongs to a failed attempt
	NoteDelta                           // Name (one of the Note constants), Text: for the operator; no part of the answer
)

// Names of the notes of a client. Each is given at most once per thread and client.
const (
	NoteReasoningDropped = "ReasoningDropped" // the provider refused earlier reasoning; sent again without it
	NoteGearIgnored      = "GearIgnored"      // the protocol has no such thinking gear
)

// Delta is one piece of a streamed answer. It is a plain value, so that streaming allocates nothing; which fields count
// depends on Kind. Each call has exactly one CallStart and one CallEnd, and every delta of a call carries its ID.
type Delta struct {
	Kind    DeltaKind
	Index   int // position of the call, or number of the reasoning segment
	ID      string
	Name    string
	Text    string
	Segment SegmentKind
	State   *State
	For     Kind // StateDelta: reasoning, message, or tool_call (then Index names the call)
	Usage   Usage
	Finish  Finish
	Raw     string // the provider's own word for the finish
	Attempt int    // RetryDelta: number of the retry, from 1
	Delay   time.Duration
}

// Finish says how an answer ended.
type Finish string

// The finishes.
const (
	FinishStop            Finish = "stop"
	FinishToolCalls       Finish = "tool_calls"
	FinishLength          Finish = "length"
	FinishContentFilter   Finish = "content_filter"
	FinishContextOverflow Finish = "context_overflow"
	FinishOther           Finish = "other"
)

// Usage counts tokens. Absent numbers are 0.
type Usage struct {
	Input      int  `json:"input,omitempty"`
	Output     int  `json:"output,omitempty"`
	Reasoning  int  `json:"reasoning,omitempty"`
	CacheRead  int  `json:"cacheRead,omitempty"`
	CacheWrite int  `json:"cacheWrite,omitempty"`
	Total      int  `json:"total,omitempty"`
	Estimated  bool `json:"estimated,omitempty"`
}

// Response is a complete answer: the candidate.
type Response struct {
	Items  []*Item // in the order in which they first appeared; their ID is blank, the kernel gives one
	Finish Finish
	Raw    string
	Usage  *Usage // nil: not reported
}
