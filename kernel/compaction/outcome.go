package compaction

import (
	"fmt"
	"slices"

	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/model"
)

// CompactionFailed is the code of the note that no summary was stored.
const CompactionFailed = "CompactionFailed"

// Result says what a compaction came to.
type Result string

// The results.
const (
	Applied   Result = "applied"   // something was dropped or summarised
	Unchanged Result = "unchanged" // there was nothing to do
	Exhausted Result = "exhausted" // something was to be done and could not be
	Nothing   Result = "nothing"   // by hand: there is nothing earlier to compact
)

// Outcome is what a compaction came to.
type Outcome struct {
	Result     Result
	Pruned     int  // tokens freed by dropping old tool outputs
	Summarised bool // a summary was stored
	Before     int  // tokens of the request, by estimate
	After      int
	Fits       bool         // the request leaves room for an answer; if not, a turn ends as context_overflow
	Largest    string       // when it does not fit: its two largest parts with their estimates, for the message
	Failure    error        // why no summary was stored; nil when one was, or none was wanted
	Usage      *model.Usage // of the summary request; nil when there was none
}

// Largest names the two largest parts of a request with their estimates.
func Largest(l Load, items []*model.Item, s estimate.Sends) string {
	type part struct {
		name   string
		tokens int
	}
	parts := []part{{"the system text", l.System}, {"the tool definitions", l.Tools}}
	for i, it := range items {
		name := "item " + it.ID
		if it.ID == "" {
			name = fmt.Sprintf("item number %d", i+1)
		}
		switch it.Kind {
		case model.Message:
			name += fmt.Sprintf(" (%s message)", it.Role)
		case model.ToolCall:
			name += " (tool call)"
		case model.ToolResult:
			name += " (tool result)"
		case model.Reasoning:
			name += " (reasoning)"
		}
		parts = append(parts, part{name, estimate.Item(it, s)})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return b.tokens - a.tokens })
	return fmt.Sprintf("%s with about %d tokens and %s with about %d tokens",
		parts[0].name, parts[0].tokens, parts[1].name, parts[1].tokens)
}
