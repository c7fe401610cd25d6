package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// How much of a result a transcript shows.
const (
	summaryLimit = 200 // characters
	otherLines   = 12  // first lines of a successful result
	bashLines    = 8   // last lines of a command that succeeded
	failedLines  = 32  // last lines of a command that failed
)

// telling names the argument that tells what a call of a built-in tool is about.
var telling = map[string]string{
	"read": "path", "list": "path", "edit": "path", "write": "path", "glob": "pattern", "grep": "pattern", "bash": "command",
	"question": "question", "skill": "name", kernel.TaskTool: "task",
}

// summary is one line about the arguments of a call.
func summary(name, arguments string) string {
	text := strings.TrimSpace(arguments)
	if key, ok := telling[name]; ok {
		var args map[string]json.RawMessage
		var value string
		if json.Unmarshal([]byte(arguments), &args) == nil && (len(args[key]) == 0 || json.Unmarshal(args[key], &value) == nil) {
			first, _, _ := strings.Cut(strings.TrimSpace(terminal.Clean(value)), "\n")
			return cut(terminal.Line(first, len(first)+1))
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) == nil {
		text = b.String()
	}
	return cut(terminal.Line(text, len(text)+1))
}

// cut keeps 200 characters and marks what it left out.
func cut(line string) string {
	n := 0
	for i := range line {
		if n++; n > summaryLimit {
			return line[:i] + "…"
		}
	}
	return line
}

// body is what a transcript shows of a result, line by line.
func body(e kernel.CallEnded) []string {
	text := trimmed(terminal.Clean(e.Text))
	var lines []string
	if text != "" {
		lines = strings.Split(text, "\n")
	}
	ok := e.Status == model.Success
	switch {
	case e.Name == "bash" && e.Executed && len(lines) > 0:
		return command(lines, e.Code, ok)
	case e.Name == "edit" || e.Name == "write" || !ok:
		return lines
	}
	if more := len(lines) - otherLines; more > 0 {
		return append(lines[:otherLines:otherLines], omitted(more, "more"))
	}
	return lines
}

// command shows how a command ended, and the end of its output.
func command(lines []string, code string, ok bool) []string {
	var head string
	if !ok && len(lines) > 1 && strings.HasPrefix(lines[0], "Error "+code+":") {
		lines = lines[1:] // says what the line after it says too
	}
	switch first := lines[0]; {
	case code == tool.CodeCancelled:
		head = "(cancelled)"
	case strings.HasPrefix(first, "timed out"):
		head, lines = "(timed out)", lines[1:]
	case strings.HasPrefix(first, "exit "):
		head, lines = "("+first+")", lines[1:]
	default:
		return lines
	}
	if len(lines) == 1 && lines[0] == "(no output)" {
		lines = nil
	}
	out := []string{head}
	keep := bashLines
	if !ok {
		keep = failedLines
	}
	if earlier := len(lines) - keep; earlier > 0 {
		out = append(out, omitted(earlier, "earlier"))
		lines = lines[earlier:]
	}
	return append(out, lines...)
}

// omitted is the line that stands for lines that are not shown.
func omitted(n int, which string) string {
	if n == 1 {
		return fmt.Sprintf("<1 %s line omitted>", which)
	}
	return fmt.Sprintf("<%d %s lines omitted>", n, which)
}

// seconds prints a duration in seconds, without a needless fraction.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64)
}
