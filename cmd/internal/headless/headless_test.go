package headless_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/cmd/internal/headless"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/model"
)

// transcript prints events and returns both streams.
func transcript(s headless.Style, events ...kernel.Event) (stdout, stderr string) {
	var out, err bytes.Buffer
	t := headless.NewTranscript(terminal.Stream{W: &out}, terminal.Stream{W: &err}, s)
	for _, e := range events {
		t.Event(e)
	}
	return out.String(), err.String()
}

func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintln(&b, i)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func indented(from, to int) string { return "  " + strings.ReplaceAll(numbers(from, to), "\n", "\n  ") }

func bash(text, code string, status model.Status) kernel.CallEnded {
	return kernel.CallEnded{
		CallID: "c1", Name: "bash", Arguments: `{"command":"\n go test ./... \nrm x"}`, Status: status, Code: code, Text: text, Executed: true,
	}
}

func TestTranscriptOfCalls(t *testing.T) {
	tests := []struct {
		name string
		call kernel.CallEnded
		want string
	}{
		{"RUN-7 success", bash("exit 0\n"+numbers(1, 20), "", model.Success), "[bash] go test ./...\n  (exit 0)\n  <12 earlier lines omitted>\n" + indented(13, 20)},
		{
			"RUN-7 failure", bash("Error command_failed: The command failed.\nexit 3\n"+numbers(1, 40), "command_failed", model.Failure),
			"[bash] go test ./...\n  (exit 3)\n  <8 earlier lines omitted>\n" + indented(9, 40),
		},
		{"one line too many", bash("exit 0\n"+numbers(1, 9), "", model.Success), "[bash] go test ./...\n  (exit 0)\n  <1 earlier line omitted>\n" + indented(2, 9)},
		{"no output", bash("exit 0\n(no output)", "", model.Success), "[bash] go test ./...\n  (exit 0)"},
		{"time is up", bash("Error tool_timeout: x\ntimed out after 1s\npart", "tool_timeout", model.TimedOut), "[bash] go test ./...\n  (timed out)\n  part"},
		{"cancelled", bash("Error tool_cancelled: x\npart", "tool_cancelled", model.Cancelled), "[bash] go test ./...\n  (cancelled)\n  part"},
		{
			"denied",
			kernel.CallEnded{Name: "bash", Arguments: `{"command":"touch x"}`, Status: model.Denied, Code: "tool_approval_rejected", Text: "Error tool_approval_rejected: nobody is there"},
			"[bash] touch x\n  Error tool_approval_rejected: nobody is there",
		},
		{"a long result", kernel.CallEnded{Name: "list", Arguments: `{"path":"src"}`, Status: model.Success, Text: numbers(1, 14)}, "[list] src\n" + indented(1, 12) + "\n  <2 more lines omitted>"},
		{"one more line", kernel.CallEnded{Name: "list", Arguments: `{}`, Status: model.Success, Text: numbers(1, 13)}, "[list]\n" + indented(1, 12) + "\n  <1 more line omitted>"},
		{"a failure is whole", kernel.CallEnded{Name: "read", Arguments: `{"path":"a"}`, Status: model.Failure, Text: numbers(1, 20)}, "[read] a\n" + indented(1, 20)},
		{"an edit is whole", kernel.CallEnded{Name: "edit", Arguments: `{"path":"a"}`, Status: model.Success, Text: numbers(1, 20)}, "[edit] a\n" + indented(1, 20)},
		{"arguments of others", kernel.CallEnded{Name: "lookup", Arguments: "{\"q\": \"x\",\n \"n\": [1, 2]}", Status: model.Success}, `[lookup] {"q":"x","n":[1,2]}`},
		{"arguments that are no JSON", kernel.CallEnded{Name: "lookup", Arguments: "{\"q\"", Status: model.Failure}, `[lookup] {"q"`},
		{"arguments of the wrong shape", kernel.CallEnded{Name: "bash", Arguments: `{"command":{"a":1}}`, Status: model.Failure}, `[bash] {"command":{"a":1}}`},
		{
			"a long summary",
			kernel.CallEnded{Name: "read", Arguments: `{"path":"` + strings.Repeat("é", 201) + `"}`, Status: model.Success},
			"[read] " + strings.Repeat("é", 200) + "…",
		},
		{"a summary of 200", kernel.CallEnded{Name: "read", Arguments: `{"path":"` + strings.Repeat("é", 200) + `"}`, Status: model.Success}, "[read] " + strings.Repeat("é", 200)},
		{"FIELD-K3 control in output", kernel.CallEnded{Name: "x", Arguments: "", Status: model.Success, Text: "a\r\nb\x1b[2J\x1b[1;1Hc\rd"}, "[x]\n  a\n  bcd"},
		{"a name with control", kernel.CallEnded{Name: "x\x1b[2J\n", Arguments: "", Status: model.Failure, Text: ""}, "[x]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := transcript(headless.Style{}, tt.call)
			assert.Equal(t, tt.want+"\n", out)
			assert.Empty(t, err)
		})
	}
}

func TestTranscriptSeparatesBlocksByOneBlankLine(t *testing.T) {
	round := kernel.RoundCommitted{Text: "Hello.  \r\nMore \n\n", Reasoning: "Because."}
	call := kernel.CallEnded{Name: "read", Arguments: `{"path":"a"}`, Status: model.Success, Text: "x"}
	events := []kernel.Event{
		kernel.TurnStarted{},
		kernel.TextDelta{Text: "Hel"},
		kernel.Retrying{Attempt: 1, Message: "slow\ndown", Delay: 2500 * time.Millisecond},
		round, call,
		kernel.RoundCommitted{Text: " \n "},
		kernel.RoundCommitted{Text: "End."},
		kernel.TurnEnded{Result: kernel.Result{Text: "End."}},
	}
	out, err := transcript(headless.Style{}, events...)
	assert.Equal(t, "Hello.  \nMore\n\n[read] a\n  x\n\nEnd.\n", out)
	assert.Equal(t, "[Retry] attempt 1 in 2.5 s: slow down\n", err)

	out, _ = transcript(headless.Style{Thinking: true}, events...)
	assert.Equal(t, "[Thinking]\nBecause.\n\n[Assistant]\nHello.  \nMore\n\n[read] a\n  x\n\n[Assistant]\nEnd.\n", out)

	out, _ = transcript(headless.Style{Quiet: true}, events...)
	assert.Equal(t, "End.\n", out)
}

// FIELD-V3 and FIELD-K4: what broke off is printed as such, cleaned.
func TestTranscriptOfAFailure(t *testing.T) {
	out, err := transcript(headless.Style{}, kernel.Failure{Code: "provider_stream_ended", Message: "it broke off", Partial: "a\x1b]52;c;aGk=\x07b\x1b]0;owned\x1b\\c\x1b]0;never"})
	assert.Equal(t, "[Partial]\nabc\n", out)
	assert.Equal(t, "[Error] it broke off\n", err)

	out, err = transcript(headless.Style{}, kernel.Failure{Message: "no answer"})
	assert.Empty(t, out)
	assert.Equal(t, "[Error] no answer\n", err)
}

func TestTranscriptTalksOnStderr(t *testing.T) {
	var out, err bytes.Buffer
	tr := headless.NewTranscript(terminal.Stream{W: &out}, terminal.Stream{W: &err}, headless.Style{})
	tr.Begin(headless.Init{Notes: []headless.Note{{Text: "offline"}}})
	tr.Event(kernel.Noted{Code: "C", Label: "acme.p/guard", Message: "failed"})
	tr.Event(kernel.Noted{Code: "C", Agent: "explore", Message: "failed"})
	tr.Event(kernel.Compacted{Reason: "limit", Before: 10, After: 5})
	tr.End(headless.End{Status: "denied", Exit: 4, Hint: "To go on: x"})
	assert.Empty(t, out.String())
	assert.Equal(t, "[Note] offline\n[Note] C: acme.p/guard: failed\n[Note] explore: C: failed\n[Note] the thread was compacted (limit): 10 tokens before, 5 after\n[Stopped] denied\nTo go on: x\n", err.String())

	err.Reset()
	tr.End(headless.End{Status: "completed", Hint: "To go on: x"})
	assert.Equal(t, "To go on: x\n", err.String(), "RUN-1: the hint and nothing else")
}

func TestTranscriptIsTheSameWithColours(t *testing.T) {
	var plain, coloured bytes.Buffer
	events := []kernel.Event{
		kernel.RoundCommitted{Text: "Hi.", Reasoning: "r"},
		bash("exit 0\nx", "", model.Success),
		kernel.Failure{Message: "m", Partial: "p"},
		kernel.Retrying{Attempt: 1},
	}
	for _, c := range []struct {
		b      *bytes.Buffer
		colour bool
	}{{&plain, false}, {&coloured, true}} {
		s := terminal.Stream{W: c.b, Colour: c.colour}
		tr := headless.NewTranscript(s, s, headless.Style{Thinking: true})
		for _, e := range events {
			tr.Event(e)
		}
		tr.End(headless.End{Exit: 2, Status: "failed", Hint: "h"})
	}
	assert.NotEqual(t, plain.String(), coloured.String())
	assert.Equal(t, plain.String(), terminal.Clean(coloured.String()))
}

// lines prints events and returns the lines as objects.
func lines(t *testing.T, thinking bool, i headless.Init, events []kernel.Event, end headless.End) []map[string]any {
	t.Helper()
	var b bytes.Buffer
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600)) }
	l := headless.NewLines(&b, thinking, now)
	l.Begin(i)
	for _, e := range events {
		l.Event(e)
	}
	l.End(end)
	assert.NotContains(t, b.String(), "\x1b", "FIELD-K3: no raw escape")
	var out []map[string]any
	for line := range strings.Lines(b.String()) {
		var o map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &o), line)
		assert.Equal(t, "2026-01-02T02:04:05.000Z", o["timestamp"])
		assert.Equal(t, i.Thread, o["threadId"])
		delete(o, "timestamp")
		delete(o, "threadId")
		out = append(out, o)
	}
	return out
}

func types(list []map[string]any) []string {
	var out []string
	for _, o := range list {
		out = append(out, o["type"].(string))
	}
	return out
}

func result(stop kernel.StopReason) kernel.TurnEnded {
	return kernel.TurnEnded{Result: kernel.Result{
		Turn: "t1", Stop: stop, ModelCalls: 1, ToolCalls: 2, Denials: 3, Usage: model.Usage{Input: 4, Output: 5}, Window: 6,
	}}
}

// RUN-17: the lines of a plain answer.
func TestLinesOfAnAnswer(t *testing.T) {
	got := lines(t, false, headless.Init{Thread: "th", Version: "1", Workspace: "/w", Provider: "p", Model: "m", Mode: "work", Approval: "default"}, []kernel.Event{
		kernel.TurnStarted{Turn: "t1"},
		kernel.RoundStarted{},
		kernel.TextDelta{Text: "Hel"},
		kernel.ReasoningDelta{Text: "r"},
		kernel.CallDelta{},
		kernel.CallPending{},
		kernel.CallStarted{},
		kernel.CallProgress{},
		kernel.RoundCommitted{Text: "Hello. \n", Reasoning: "r"},
		result(kernel.Completed),
	}, headless.End{Status: "completed", Hint: "crystal run --resume th"})
	assert.Equal(t, []string{"init", "turn_start", "text", "turn_finish", "session"}, types(got))
	assert.Equal(t, map[string]any{
		"type": "init", "schema": 1.0, "version": "1", "workspace": "/w", "provider": "p", "model": "m", "mode": "work", "approval": "default",
		"resumed": false, "tools": []any{}, "plugins": []any{}, "problems": []any{},
	}, got[0])
	assert.Equal(t, map[string]any{"type": "turn_start", "turnId": "t1"}, got[1])
	assert.Equal(t, map[string]any{"type": "text", "text": "Hello."}, got[2])
	assert.Equal(t, map[string]any{
		"type": "turn_finish", "turnId": "t1", "reason": "completed", "modelCalls": 1.0, "toolCalls": 2.0, "denials": 3.0,
		"inputTokens": 4.0, "outputTokens": 5.0, "contextWindow": 6.0,
	}, got[3])
	assert.Equal(t, map[string]any{"type": "session", "text": "crystal run --resume th", "exitCode": 0.0}, got[4])
}

// FIELD-V3, FIELD-Q5, RUN-19: the other lines.
func TestLinesOfEverythingElse(t *testing.T) {
	got := lines(t, true, headless.Init{Thread: "th", Plugins: []headless.Plugin{{ID: "a.b", Version: "1.0.0", Source: "host", State: "active"}}, Problems: []headless.Problem{{Code: "C", Text: "x"}}}, []kernel.Event{
		kernel.Retrying{Attempt: 2, Message: "m", Delay: 1500 * time.Millisecond},
		kernel.RoundCommitted{Reasoning: "why"},
		kernel.Noted{Code: "C", Severity: contrib.Warning, Plugin: "a.b", Point: "p", Label: "a.b/l", Agent: "explore", Message: "m"},
		kernel.Compacted{Reason: "limit", Before: 9, After: 3, Summarised: true},
		kernel.Failure{Code: "provider_stream_ended", Message: "broke off", Partial: "abc "},
		result(kernel.Failed),
	}, headless.End{Status: "failed", Exit: 2, Hint: "h"})
	assert.Equal(t, []map[string]any{
		{"type": "retry", "attempt": 2.0, "message": "m", "delaySeconds": 1.5},
		{"type": "reasoning", "text": "why"},
		{"type": "note", "code": "C", "severity": "warning", "plugin": "a.b", "point": "p", "label": "a.b/l", "agent": "explore", "message": "m"},
		{"type": "compaction", "reason": "limit", "before": 9.0, "after": 3.0, "summarised": true},
		{"type": "text", "text": "abc", "partial": true},
		{"type": "error", "code": "provider_stream_ended", "message": "broke off"},
	}, got[1:7])
	assert.Equal(t, []string{"turn_finish", "stopped", "session"}, types(got[7:]))
	assert.Equal(t, map[string]any{"type": "stopped", "status": "failed", "exitCode": 2.0}, got[8])
	assert.Equal(t, []any{map[string]any{"id": "a.b", "version": "1.0.0", "source": "host", "state": "active"}}, got[0]["plugins"])
}

func TestLineOfACall(t *testing.T) {
	tests := []struct {
		name string
		call kernel.CallEnded
		want map[string]any
	}{
		{
			"success",
			kernel.CallEnded{CallID: "c1", Name: "read", Arguments: `{"path":"a"}`, Status: model.Success, Text: "x", Duration: 1500 * time.Microsecond},
			map[string]any{"arguments": map[string]any{"path": "a"}, "status": "success", "output": "x", "durationMs": 1.0},
		},
		{
			"FIELD-B20, RUN-19: a failure has a code",
			kernel.CallEnded{CallID: "c1", Name: "read", Arguments: ``, Status: model.Denied, Code: "tool_approval_rejected", Text: "no", OutputPath: "/p", ParentID: "c0"},
			map[string]any{"arguments": "", "status": "failure", "code": "tool_approval_rejected", "output": "no", "outputPath": "/p", "parentCallId": "c0", "durationMs": 0.0},
		},
		{
			"changed by hooks",
			kernel.CallEnded{CallID: "c1", Name: "read", Arguments: `{"b":1`, Status: model.Success, Original: &kernel.CallForm{Name: "list", Arguments: `{"a":1}`}},
			map[string]any{"arguments": `{"b":1`, "status": "success", "output": "", "durationMs": 0.0, "original": map[string]any{"name": "list", "arguments": map[string]any{"a": 1.0}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want["type"], tt.want["callId"], tt.want["name"] = "tool_use", "c1", "read"
			got := lines(t, false, headless.Init{Thread: "th"}, []kernel.Event{tt.call}, headless.End{})
			assert.Equal(t, tt.want, got[1])
		})
	}
}

// FIELD-K7: line separators are text within a line.
func TestLinesKeepLineSeparatorsInside(t *testing.T) {
	got := lines(t, false, headless.Init{Thread: "th"}, []kernel.Event{kernel.RoundCommitted{Text: "a\u2028b\u2029c\u0085d\x1b[2Je\n\nf"}}, headless.End{})
	assert.Equal(t, "a\u2028b\u2029c\u0085d\x1b[2Je\n\nf", got[1]["text"])
}
