package headless

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/model"
)

// Schema is the version of the lines.
const Schema = 1

// Lines prints a turn for programs: one JSON object per line, and nothing else.
type Lines struct {
	w        io.Writer
	now      func() time.Time
	thread   string
	thinking bool
}

var _ Printer = (*Lines)(nil)

// NewLines makes a printer of lines. now tells the time.
func NewLines(w io.Writer, thinking bool, now func() time.Time) *Lines {
	return &Lines{w: w, now: now, thinking: thinking}
}

// head is what every line begins with.
type head struct {
	Type   string `json:"type"`
	Time   string `json:"timestamp"`
	Thread string `json:"threadId"`
}

func (l *Lines) head(kind string) head { return head{kind, stamp(l.now()), l.thread} }

// print writes one line in one write, so that lines never interleave.
func (l *Lines) print(line any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		return
	}
	// The writer keeps the error: there is nobody here who could do anything about it.
	_, _ = l.w.Write(b.Bytes())
}

type initLine struct {
	head
	Schema    int       `json:"schema"`
	Version   string    `json:"version"`
	Workspace string    `json:"workspace"`
	Provider  string    `json:"provider"`
	Model     string    `json:"model"`
	Mode      string    `json:"mode"`
	Approval  string    `json:"approval"`
	Resumed   bool      `json:"resumed"`
	Tools     []string  `json:"tools"`
	Plugins   []Plugin  `json:"plugins"`
	Problems  []Problem `json:"problems"`
}

// Begin prints the line init.
func (l *Lines) Begin(i Init) {
	l.thread = i.Thread
	l.print(initLine{
		l.head("init"), Schema, i.Version, i.Workspace, i.Provider, i.Model, i.Mode, i.Approval, i.Resumed,
		some(i.Tools), some(i.Plugins), some(i.Problems),
	})
}

// some is an empty list in place of none.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

type textLine struct {
	head
	Text    string `json:"text"`
	Partial bool   `json:"partial,omitempty"`
}

type turnLine struct {
	head
	Turn string `json:"turnId"`
}

type callLine struct {
	head
	CallID     string    `json:"callId"`
	Name       string    `json:"name"`
	Arguments  any       `json:"arguments"`
	Status     string    `json:"status"`
	Code       string    `json:"code,omitempty"`
	Output     string    `json:"output"`
	OutputPath string    `json:"outputPath,omitempty"`
	DurationMS int64     `json:"durationMs"`
	ParentID   string    `json:"parentCallId,omitempty"`
	Agent      string    `json:"agent,omitempty"` // profile of the subagent whose call it is
	Original   *callForm `json:"original,omitempty"`
}

type callForm struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

type noteLine struct {
	head
	Code     string `json:"code,omitempty"`
	Severity string `json:"severity"`
	Plugin   string `json:"plugin,omitempty"`
	Point    string `json:"point,omitempty"`
	Label    string `json:"label,omitempty"`
	Agent    string `json:"agent,omitempty"` // profile of the subagent that it is about
	Message  string `json:"message"`
}

type retryLine struct {
	head
	Attempt int     `json:"attempt"`
	Message string  `json:"message"`
	Delay   float64 `json:"delaySeconds"`
}

type compactionLine struct {
	head
	Reason     string `json:"reason"`
	Before     int    `json:"before"`
	After      int    `json:"after"`
	Summarised bool   `json:"summarised"`
}

type errorLine struct {
	head
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

type finishLine struct {
	head
	Turn          string `json:"turnId"`
	Reason        string `json:"reason"`
	ModelCalls    int    `json:"modelCalls"`
	ToolCalls     int    `json:"toolCalls"`
	Denials       int    `json:"denials"`
	InputTokens   int    `json:"inputTokens"`
	OutputTokens  int    `json:"outputTokens"`
	ContextWindow int    `json:"contextWindow"`
}

// Event prints the line of an event; most pieces of a stream have none.
func (l *Lines) Event(e kernel.Event) {
	switch e := e.(type) {
	case kernel.TurnStarted:
		l.print(turnLine{l.head("turn_start"), e.Turn})
	case kernel.RoundCommitted:
		if text := trimmed(e.Reasoning); text != "" && l.thinking {
			l.print(textLine{head: l.head("reasoning"), Text: text})
		}
		if text := trimmed(e.Text); text != "" {
			l.print(textLine{head: l.head("text"), Text: text})
		}
	case kernel.CallEnded:
		l.print(l.call(e))
	case kernel.Noted:
		l.print(noteLine{l.head("note"), e.Code, string(e.Severity), e.Plugin, e.Point, e.Label, e.Agent, e.Message})
	case kernel.Retrying:
		l.print(retryLine{l.head("retry"), e.Attempt, e.Message, e.Delay.Seconds()})
	case kernel.Compacted:
		l.print(compactionLine{l.head("compaction"), e.Reason, e.Before, e.After, e.Summarised})
	case kernel.Failure:
		if text := trimmed(e.Partial); text != "" {
			l.print(textLine{l.head("text"), text, true})
		}
		l.print(errorLine{l.head("error"), e.Code, e.Message})
	case kernel.TurnEnded:
		l.print(finishLine{
			l.head("turn_finish"), e.Turn, string(e.Stop), e.ModelCalls, e.ToolCalls, e.Denials, e.Usage.Input, e.Usage.Output, e.Window,
		})
	}
}

func (l *Lines) call(e kernel.CallEnded) callLine {
	line := callLine{
		head: l.head("tool_use"), CallID: e.CallID, Name: e.Name, Arguments: value(e.Arguments), Status: "success", Output: e.Text,
		OutputPath: e.OutputPath, DurationMS: e.Duration.Milliseconds(), ParentID: e.ParentID, Agent: e.Agent,
	}
	if e.Status != model.Success {
		line.Status, line.Code = "failure", e.Code
	}
	if o := e.Original; o != nil {
		line.Original = &callForm{o.Name, value(o.Arguments)}
	}
	return line
}

// value is the JSON value of arguments; their text when they are no JSON.
func value(arguments string) any {
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	return arguments
}

type stoppedLine struct {
	head
	Status string `json:"status"`
	Exit   int    `json:"exitCode"`
}

type sessionLine struct {
	head
	Text string `json:"text"`
	Exit int    `json:"exitCode"`
}

// End prints the last lines.
func (l *Lines) End(e End) {
	if e.Exit != 0 {
		l.print(stoppedLine{l.head("stopped"), e.Status, e.Exit})
	}
	l.print(sessionLine{l.head("session"), e.Hint, e.Exit})
}
