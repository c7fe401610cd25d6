package estimate

import (
	"unicode/utf8"

	"github.com/crystalkernel/crystal/points/model"
)

// Image is the estimate of an image that is sent.
const Image = 1600

// Sends says what a request carries beside text. The zero value sends neither.
type Sends struct {
	Images    bool // the model takes images
	Reasoning bool // the protocol sends earlier reasoning back
}

// Text estimates a text: a quarter of its characters, rounded to the nearest integer, ties to even.
func Text(s string) int { return quarter(utf8.RuneCountInString(s)) }

func quarter(characters int) int {
	q, r := characters/4, characters%4
	if r == 3 || r == 2 && q%2 == 1 {
		q++
	}
	return q
}

// Item estimates an item of a request.
func Item(it *model.Item, s Sends) int {
	switch it.Kind {
	case model.Message, model.ToolResult:
		n := Text(it.Text)
		if s.Images && (it.Kind == model.ToolResult || it.Role == model.User) {
			n += Image * len(it.Images)
		}
		return n
	case model.ToolCall:
		return quarter(utf8.RuneCountInString(it.Name) + utf8.RuneCountInString(it.Arguments))
	case model.Reasoning:
		if !s.Reasoning {
			return 0
		}
		characters := 0
		for i := range it.Segments {
			characters += utf8.RuneCountInString(it.Segments[i].Text)
		}
		return quarter(characters)
	}
	return 0
}

// Items estimates a list of items.
func Items(items []*model.Item, s Sends) int {
	n := 0
	for _, it := range items {
		n += Item(it, s)
	}
	return n
}

// Tool estimates a tool definition.
func Tool(t *model.Tool) int {
	return quarter(utf8.RuneCountInString(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Schema))
}

// Tools estimates tool definitions. They change with the plan of a turn only: count them once for each plan.
func Tools(tools []model.Tool) int {
	n := 0
	for i := range tools {
		n += Tool(&tools[i])
	}
	return n
}

// Request estimates a whole request.
func Request(r *model.Request) int {
	return Text(r.System) + Tools(r.Tools) + Items(r.Items, Sends{Images: r.AcceptsImages, Reasoning: r.ReplayReasoning})
}

// Usage is what stands in for the usage that a provider did not report: the estimates of the request and of the
// answer's items, marked as estimated.
func Usage(request int, answer []*model.Item) *model.Usage {
	output := Items(answer, Sends{Reasoning: true})
	return &model.Usage{Input: request, Output: output, Total: request + output, Estimated: true}
}
