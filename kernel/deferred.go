package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/kernel/toolsearch"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/model"
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

// isDeferred reports whether a model can find the tool by a search.
func isDeferred(t *toolset.Tool) bool {
	d := t.Definition
	return d.Exposure == tool.DeferredTool && !t.Binding.Unavailable && d.Audiences&tool.AudienceModel != 0
}

// search makes the tool. The plan that it is part of may serve several threads.
func (k *Kernel) search([]*toolset.Tool) (tool.Registration, bool) {
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

// runSearch is the tool.
func runSearch(ctx context.Context, i tool.Invocation) (tool.Result, error) {
	th, ok := ctx.Value(turnKey{}).(*Thread)
	if !ok {
		return tool.Result{}, errNoTurn
	}
	var in searched
	if err := json.Unmarshal(i.Arguments, &in); err != nil {
		return tool.Result{}, fmt.Errorf("kernel: the arguments of a search: %w", err)
	}
	list := th.discover(th.turn.plan.tools, in)
	if len(list) == 0 {
		return tool.Text("No tool fits. Try other words, or a namespace with a blank query."), nil
	}
	var b strings.Builder
	b.WriteString("These tools can be called now:\n")
	for _, t := range list {
		fmt.Fprintf(&b, "\n- %s: %s", t.Flat, firstLine(t.Definition.Description))
	}
	return tool.Text(b.String()), nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// discover runs a search and remembers what it found for the thread.
func (t *Thread) discover(s *toolset.Snapshot, in searched) []*toolset.Tool {
	var deferred []*toolset.Tool
	for _, one := range s.Tools() {
		if isDeferred(one) {
			deferred = append(deferred, one)
		}
	}
	if in.Limit <= 0 {
		in.Limit = foundTools
	}
	list := toolsearch.Find(in.Query, in.Namespace, deferred, min(in.Limit, mostTools))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range list {
		if !slices.Contains(t.found, one.Canonical) {
			t.found = append(t.found, one.Canonical)
		}
	}
	return list
}

// recall finds again what was found before the thread was opened: the searches of its transcript are run once more.
func (t *Thread) recall(s *toolset.Snapshot) {
	if t.recalled {
		return
	}
	t.recalled = true
	if search, _ := s.ByCanonical(SearchTool); search == nil {
		return
	}
	for _, it := range t.log.Items() {
		var in searched
		if it.Kind == model.ToolCall && it.Name == SearchTool && json.Unmarshal([]byte(it.Arguments), &in) == nil {
			t.discover(s, in)
		}
	}
}

// injectTools is the built-in middleware tool-injection: what a search has found is offered behind the list, in the order
// in which it was found, so that what a provider has cached of the request stays good.
func injectTools(_ context.Context, next model.Client, i model.PipelineInfo) (model.Client, error) {
	if i.Kind != model.Agent {
		return next, nil
	}
	return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
		th, ok := ctx.Value(turnKey{}).(*Thread)
		if !ok || r.Purpose != model.Work && r.Purpose != model.Plan {
			return next.Round(ctx, r, emit)
		}
		more := th.injected()
		if len(more) == 0 {
			return next.Round(ctx, r, emit)
		}
		own := *r
		own.Tools = append(slices.Clip(r.Tools), more...)
		return next.Round(ctx, &own, emit)
	}), nil
}

// injected are the found tools that the plan of the running turn still has.
func (t *Thread) injected() []model.Tool {
	t.mu.Lock()
	found := t.found
	t.mu.Unlock()
	var out []model.Tool
	for _, name := range found {
		if one, exact := t.turn.plan.tools.ByCanonical(name); exact && isDeferred(one) {
			out = append(out, model.Tool{Name: one.Flat, Description: one.Definition.Description, Schema: one.Input.JSON()})
		}
	}
	return out
}

// deferredText is what the prompt says about the tools that a search finds; blank when there are none. namespaces are
// theirs, sorted.
func deferredText(s *toolset.Snapshot) (text string, namespaces []string) {
	count, about := map[string]int{}, map[string]string{}
	for _, t := range s.Tools() {
		if isDeferred(t) {
			ns := t.Definition.Namespace
			if count[ns]++; count[ns] == 1 {
				namespaces = append(namespaces, ns)
				about[ns] = firstLine(t.Definition.NamespaceDescription)
			}
		}
	}
	if len(namespaces) == 0 {
		return "", nil
	}
	slices.Sort(namespaces)
	var b strings.Builder
	b.WriteString("# More tools\n\nThere are more tools than those in the list. `" + SearchTool + "` finds them by words about what they do; what it finds " +
		"can be called from then on. They belong to:\n")
	for _, ns := range namespaces {
		name := ns
		if name == "" {
			name = "(no namespace)"
		}
		fmt.Fprintf(&b, "\n- %s, %d", name, count[ns])
		if about[ns] != "" {
			b.WriteString(": " + about[ns])
		}
	}
	return b.String(), namespaces
}
