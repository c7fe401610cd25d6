package kernel

import (
	"context"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/kernel/toolsearch"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/model"
)

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
		t.remember(one)
	}
	return list
}

// remember keeps a tool that was found. The caller holds mu.
func (t *Thread) remember(one *toolset.Tool) {
	if !slices.Contains(t.found, one.Canonical) {
		t.found = append(t.found, one.Canonical)
	}
}

// recall remembers what was found before the thread was opened: what the results of searches in its transcript name. A tool
// that is not there now is found again as soon as it is.
func (t *Thread) recall(s *toolset.Snapshot) {
	if !t.recalled {
		t.recalled, t.told = true, toldOf(t.log.Items())
	}
	if len(t.told) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told = slices.DeleteFunc(t.told, func(name string) bool {
		one, exact := s.ByFlat(name)
		if !exact || !isDeferred(one) {
			return false
		}
		t.remember(one)
		return true
	})
}

// toldOf returns the wire names in the results of the searches among items, in their order.
func toldOf(items []*model.Item) (names []string) {
	searches := map[string]bool{} // by call id, as far as the items go
	for _, it := range items {
		switch {
		case it.Kind == model.ToolCall:
			searches[it.CallID] = strings.EqualFold(it.Name, SearchTool)
		case it.Kind == model.ToolResult && it.Status == model.Success && searches[it.CallID]:
			for line := range strings.Lines(it.Text) {
				if rest, ok := strings.CutPrefix(line, foundLine); ok {
					names = append(names, rest[:max(0, strings.IndexAny(rest, " :\n"))])
				}
			}
		}
	}
	return names
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
