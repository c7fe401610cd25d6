package wiretest

import (
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/points/model"
)

// Transcript returns a request of about n items: turns of a user message, reasoning, text, two calls and their results,
// and a reply; and twenty tools.
func Transcript(n int) *model.Request {
	r := &model.Request{Model: "example-small", System: strings.Repeat("You help with code. ", 50), MaxTokens: 4096}
	for turn := 0; len(r.Items) < n; turn++ {
		id := func(k int) string { return fmt.Sprintf("call_%d_%d", turn, k) }
		r.Items = append(r.Items,
			&model.Item{Kind: model.Message, Role: model.User, Text: "Look at the \"parser\" and tell me\nwhat is wrong."},
			&model.Item{Kind: model.Reasoning, Segments: []model.Segment{{Kind: model.SegmentText, Text: "Two files to read."}}},
			&model.Item{Kind: model.Message, Role: model.Assistant, Text: "Let me look."},
			&model.Item{Kind: model.ToolCall, CallID: id(1), Name: "read", Arguments: `{"path":"internal/parser/parser.go","limit":200}`},
			&model.Item{Kind: model.ToolCall, CallID: id(2), Name: "grep", Arguments: `{"pattern":"func Parse","path":"."}`},
			&model.Item{Kind: model.ToolResult, CallID: id(1), Status: model.Success, Text: strings.Repeat("\tif err != nil {\n\t\treturn nil, err\n\t}\n", 20)},
			&model.Item{Kind: model.ToolResult, CallID: id(2), Status: model.Failure, Text: "parser.go:12:func Parse(s string) (*Node, error) {"},
			&model.Item{Kind: model.Message, Role: model.Assistant, Text: "The error is dropped in `Parse`. Ein Fehler, größer als gedacht."},
		)
	}
	for k := range 20 {
		r.Tools = append(r.Tools, model.Tool{
			Name: fmt.Sprintf("tool_%02d", k), Description: "Does one thing, and does it well enough to be described in a sentence.",
			Schema: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"a path"},"count":{"type":["integer","null"],"minimum":1}},"required":["path"],"additionalProperties":false}`),
		})
	}
	return r
}
