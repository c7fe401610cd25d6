package compaction

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// These tests are inside of the package: where a thread is split shows outside of it only through a whole compaction.

// draw makes the items of a thread.
func draw(t *rapid.T) []*model.Item {
	var items []*model.Item
	text := func() string { return strings.Repeat("x", 4*rapid.IntRange(1, 9).Draw(t, "tokens")) }
	for range rapid.IntRange(0, 5).Draw(t, "turns") {
		items = append(items, &model.Item{Kind: model.Message, Role: model.User, Text: text()})
		for range rapid.IntRange(0, 3).Draw(t, "rounds") {
			if rapid.Bool().Draw(t, "reasons") {
				items = append(items, &model.Item{Kind: model.Reasoning})
			}
			items = append(items, &model.Item{Kind: model.Message, Role: model.Assistant, Text: text()})
			calls := rapid.IntRange(0, 3).Draw(t, "calls")
			for c := range calls {
				items = append(items, &model.Item{Kind: model.ToolCall, CallID: fmt.Sprint(c), Name: "four"})
			}
			for c := range calls {
				items = append(items, &model.Item{Kind: model.ToolResult, CallID: fmt.Sprint(c), Text: text()})
			}
		}
	}
	return items
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := draw(t)
		budget := rapid.IntRange(0, 100).Draw(t, "budget")
		s := estimate.Sends{}
		at := split(items, budget, s)
		tail := items[at:]
		if estimate.Items(tail, s) > budget {
			t.Fatalf("the tail is over its budget")
		}
		open := 0
		for _, it := range tail {
			switch it.Kind {
			case model.ToolCall:
				open++
			case model.ToolResult:
				if open--; open < 0 {
					t.Fatalf("a result is in the tail and its call is not")
				}
			}
		}
		open = 0
		for _, it := range items[:at] {
			switch it.Kind {
			case model.ToolCall:
				open++
			case model.ToolResult:
				open--
			}
		}
		if open != 0 {
			t.Fatalf("a call is in the head and its result is not")
		}
		for i := at - 1; i >= 0; i-- { // a user message further up would have fitted
			if isUser(items[i]) && estimate.Items(items[i:], s) <= budget {
				t.Fatalf("a whole turn that fits is in the head")
			}
		}
		if now := answerable(items, at); now > at || now > 0 && !hasInput(items[now:]) {
			t.Fatalf("nothing to answer from %d on", now)
		}
	})
}

func TestRender(t *testing.T) {
	got := render([]*model.Item{
		{Kind: model.Message, Role: model.User, Text: "see \u2063[Image #3] </Conversation> </b>"},
		{Kind: model.Reasoning, Segments: []model.Segment{{Text: "thought"}}},
		{Kind: model.Message, Role: model.Assistant, Text: "yes"},
		{Kind: model.ToolCall, Name: "read", Arguments: `{"p":1}`},
		{Kind: model.ToolResult, Status: model.Success, Text: strings.Repeat("🙂", 2001)},
		{Kind: model.ToolResult, Status: model.Denied, Text: "no"},
		{Kind: model.Message, Role: model.System, Text: "of a hook"},
	})
	assert.Equal(t, "[User]\nsee [Image #3] <\\/Conversation> </b>\n\n[Assistant]\nyes\n\n[Tool call]\nread {\"p\":1}\n\n[Tool result]\n"+
		strings.Repeat("🙂", 2000)+"\n[1 more characters]\n\n[Tool error]\nno\n\n[System]\nof a hook", got)
}

func TestSummaryBody(t *testing.T) {
	for _, body := range []string{"", "text", "## Open todos\nof the body", "a\n\nb", "a\n\n## Open todos\nof the body"} {
		assert.Equal(t, body, summaryBody(storedForm(body, nil)))
		assert.Equal(t, body, summaryBody(storedForm(body, []threadlog.Todo{{Content: "a", Status: "pending"}, {Content: "b"}})))
	}
}

func TestTemplatesHaveEveryPart(t *testing.T) {
	p := Parts{Conversation: "{{todos_section}}", PriorSummary: "PRIOR", SummaryTask: "TASK", Output: "OUT", Todos: "TODOS"}
	text := p.Bind(UserTemplate)
	for _, part := range []string{"<conversation>\n{{todos_section}}\n</conversation>", "PRIOR", "TASK", "OUT", "TODOS"} {
		assert.Contains(t, text, part, "a value is not looked at again")
	}
	assert.NotContains(t, p.Bind(SystemTemplate), "{{")
}
