package threadlog

import (
	"time"

	"github.com/crystalkernel/crystal/points/model"
)

// Record is one entry of a log: the unit of commitment. The types of this file that have a Stamp implement it; nobody
// else can.
type Record interface {
	// Kind is the word that the record has as its type in the file.
	Kind() string
	stamp() *Stamp
	durable() bool // whether the record is a commit point
}

// Stamp says where a record stands in its log, and since when. The log sets it.
type Stamp struct {
	Seq  int64     `json:"-"` // 1, 2, 3 … without gaps
	Time time.Time `json:"-"` // UTC
}

func (s *Stamp) stamp() *Stamp { return s }

// Thread is the first record of a log: what the thread is.
type Thread struct {
	Stamp
	Schema    int       `json:"schema"` // see Schema
	ID        string    `json:"id"`
	Workspace string    `json:"workspace,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	Mode      string    `json:"mode,omitempty"`
	Version   string    `json:"version,omitempty"` // of the host
	Fork      *Origin   `json:"fork,omitempty"`    // nil when the thread is no fork
}

// Origin says which thread a fork was made from, and up to which of its records.
type Origin struct {
	Thread string `json:"thread"`
	Seq    int64  `json:"seq"`
}

// System holds the composed system text. It is written when the text differs from the last one of its mode.
type System struct {
	Stamp
	Mode string `json:"mode,omitempty"`
	Text string `json:"text"`
}

// Turn says that a user message was accepted.
type Turn struct {
	Stamp
	Turn     string      `json:"turn"`
	Mode     string      `json:"mode,omitempty"`
	Provider string      `json:"provider,omitempty"`
	Model    string      `json:"model,omitempty"`
	Approval string      `json:"approval,omitempty"`
	Item     *model.Item `json:"item"` // the user message
}

// Round holds a candidate that was committed.
type Round struct {
	Stamp
	Turn     string        `json:"turn"`
	Round    int           `json:"round"`
	Provider string        `json:"provider,omitempty"`
	Protocol string        `json:"protocol,omitempty"`
	Model    string        `json:"model,omitempty"`
	Items    []*model.Item `json:"items"`
	Finish   model.Finish  `json:"finish,omitempty"`
	Raw      string        `json:"raw,omitempty"` // the provider's own word for the finish
	Usage    *model.Usage  `json:"usage,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Agent    string        `json:"agent,omitempty"` // subagent; blank for the main agent
}

// Call says that a tool is about to start.
type Call struct {
	Stamp
	Turn         string    `json:"turn"`
	CallID       string    `json:"callId"`
	ParentCallID string    `json:"parentCallId,omitempty"`
	Agent        string    `json:"agent,omitempty"`
	Effective    Effective `json:"effective"`
	Tool         string    `json:"tool,omitempty"` // identity
	Risk         string    `json:"risk,omitempty"`
	Authority    string    `json:"authority,omitempty"`
	Summary      string    `json:"summary,omitempty"`
	Decision     *Decision `json:"decision,omitempty"`
}

// Effective is a call as it runs, after the hooks.
type Effective struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON text
}

// Decision says who allowed a call.
type Decision struct {
	By        string `json:"by,omitempty"`
	Scope     string `json:"scope,omitempty"`
	Rationale string `json:"rationale,omitempty"`
}

// Result holds the accepted result of a call.
type Result struct {
	Stamp
	Turn         string      `json:"turn"`
	CallID       string      `json:"callId"`
	ParentCallID string      `json:"parentCallId,omitempty"`
	Agent        string      `json:"agent,omitempty"`
	Item         *model.Item `json:"item"`
	Code         string      `json:"code,omitempty"` // of a failure
	DurationMs   int64       `json:"durationMs,omitempty"`
	OutputPath   string      `json:"outputPath,omitempty"` // of the full text, when it was cut
}

// Partial holds the text of a last attempt that failed. It is never sent again.
type Partial struct {
	Stamp
	Turn      string `json:"turn"`
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// TurnEnd says how a turn ended.
type TurnEnd struct {
	Stamp
	Turn       string       `json:"turn"`
	Stop       string       `json:"stop"` // stop reason
	ModelCalls int          `json:"modelCalls"`
	ToolCalls  int          `json:"toolCalls"`
	Denials    int          `json:"denials"`
	Usage      *model.Usage `json:"usage,omitempty"`
}

// Prune names tool results whose text requests leave out from now on.
type Prune struct {
	Stamp
	Items []string `json:"items"` // item ids
}

// Compaction folds the older items into a summary.
type Compaction struct {
	Stamp
	Through string       `json:"through"` // id of the last folded item
	Summary *model.Item  `json:"summary"`
	Reason  string       `json:"reason,omitempty"`
	Before  int          `json:"before"` // tokens, by estimate
	After   int          `json:"after"`
	Usage   *model.Usage `json:"usage,omitempty"`
}

// Todos holds the whole list of todos after a change.
type Todos struct {
	Stamp
	Todos []Todo `json:"todos"`
}

// Todo is one entry of the list of todos.
type Todo struct {
	Content  string `json:"content"`
	Status   string `json:"status"` // pending, in_progress, completed, cancelled
	Priority string `json:"priority,omitempty"`
}

// Open reports whether the todo is neither completed nor cancelled.
func (t Todo) Open() bool { return t.Status != "completed" && t.Status != "cancelled" }

// Mode says that the thread's mode changed.
type Mode struct {
	Stamp
	Mode string `json:"mode"`
}

// Title gives the thread another title.
type Title struct {
	Stamp
	Text string `json:"text"`
}

// Repair says that the log was repaired when it was opened. Only the log itself writes it.
type Repair struct {
	Stamp
	Cut    int64    `json:"cut,omitempty"`    // bytes
	Saved  string   `json:"saved,omitempty"`  // name of the file that holds them
	Closed []string `json:"closed,omitempty"` // call ids
}

// Kind returns "thread".
func (*Thread) Kind() string { return "thread" }

// Kind returns "system".
func (*System) Kind() string { return "system" }

// Kind returns "turn".
func (*Turn) Kind() string { return "turn" }

// Kind returns "round".
func (*Round) Kind() string { return "round" }

// Kind returns "call".
func (*Call) Kind() string { return "call" }

// Kind returns "result".
func (*Result) Kind() string { return "result" }

// Kind returns "partial".
func (*Partial) Kind() string { return "partial" }

// Kind returns "turn_end".
func (*TurnEnd) Kind() string { return "turn_end" }

// Kind returns "prune".
func (*Prune) Kind() string { return "prune" }

// Kind returns "compaction".
func (*Compaction) Kind() string { return "compaction" }

// Kind returns "todos".
func (*Todos) Kind() string { return "todos" }

// Kind returns "mode".
func (*Mode) Kind() string { return "mode" }

// Kind returns "title".
func (*Title) Kind() string { return "title" }

// Kind returns "repair".
func (*Repair) Kind() string { return "repair" }

func (*Thread) durable() bool     { return true }
func (*System) durable() bool     { return false }
func (*Turn) durable() bool       { return true }
func (*Round) durable() bool      { return true }
func (*Call) durable() bool       { return true }
func (*Result) durable() bool     { return true }
func (*Partial) durable() bool    { return false }
func (*TurnEnd) durable() bool    { return true }
func (*Prune) durable() bool      { return false }
func (*Compaction) durable() bool { return true }
func (*Todos) durable() bool      { return false }
func (*Mode) durable() bool       { return false }
func (*Title) durable() bool      { return false }
func (*Repair) durable() bool     { return false }
