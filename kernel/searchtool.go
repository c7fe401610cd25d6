package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

// SearchTool is the canonical name of the built-in tool that finds deferred tools. It is planned when there are some.
const SearchTool = "tool_search"

// Bounds of one search.
const (
	foundTools = 10
	mostTools  = 25
)

// searched are the arguments of a search.
type searched struct {
	Query     string `json:"query"`
	Namespace string `json:"namespace"`
	Limit     int    `json:"limit"`
}

// searchTool makes [SearchTool] for a planning pass with deferred tools.
func searchTool([]*toolset.Tool) (tool.Registration, bool) {
	return tool.Registration{
		Definition: tool.Definition{
			ID: SearchTool, Name: SearchTool, PolicyScope: tool.ScopeRuntime,
			Description: "Finds tools that are not in the list, by words about what they do. What it finds can be called from then on.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"words; blank finds all of a namespace"},` +
				`"namespace":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":25}},"required":["query"],"additionalProperties":false}`),
			Hints: &tool.Hints{ReadOnly: true}, Catalogs: tool.CatalogBoth,
		},
		Binding: tool.Binding{
			Inline: true, Runtime: tool.RuntimeFunc(runSearch),
			Classify: func(_ context.Context, _ tool.Call, _ string) tool.Classification {
				return tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: SearchTool}
			},
		},
	}, true
}

var errNoThread = errors.New("kernel: a search was started outside of a turn")

// runSearch is the tool.
func runSearch(ctx context.Context, i tool.Invocation) (tool.Result, error) {
	th, ok := ctx.Value(turnKey{}).(*Thread)
	if !ok {
		return tool.Result{}, errNoThread
	}
	var in searched
	if err := json.Unmarshal(i.Arguments, &in); err != nil {
		return tool.Result{}, fmt.Errorf("kernel: the arguments of a search: %w", err)
	}
	list := th.discover(th.turn.plan.tools, in)
	if len(list) == 0 {
		return tool.Text("No tool fits. Try other words, or a namespace with a blank query."), nil
	}
	return tool.Text(foundText(list)), nil
}

// foundLine begins the line of a tool in the result of a search.
const foundLine = "- "

// foundText is the result of a search.
func foundText(list []*toolset.Tool) string {
	var b strings.Builder
	b.WriteString("These tools can be called now:\n")
	for _, t := range list {
		b.WriteString("\n" + foundLine + t.Flat)
		if ns := t.Definition.Namespace; ns != "" {
			b.WriteString(" (" + ns + ")")
		}
		b.WriteString(": " + brief(t.Definition.Description))
	}
	return b.String()
}
