package kernel

import (
	"context"
	"encoding/json"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// ExplainedTool is one registration of a tool. Order and label are those of its source.
type ExplainedTool struct {
	Name     string        `json:"name"`               // canonical; the tool's id when it is not admitted
	WireName string        `json:"wireName,omitempty"` // what a model calls it
	Exposure tool.Exposure `json:"exposure,omitempty"`
	Explained
	Edits  []string `json:"edits,omitempty"` // owners of the restrictions that edited it
	Bytes  int      `json:"bytes"`           // of its definition, as JSON, in each request; 0 when the model is not shown it
	Tokens int      `json:"tokens"`          // estimated
}

// ExplainTools plans the tools of a thread's next turn and says whose each is and what it costs, and what became of those
// that are not there. Arguments, effects and errors as for [Kernel.ExplainPrompt]. The tools come in the order of the
// request, those without effect at the end.
func (k *Kernel) ExplainTools(ctx context.Context, thread string, o Options) ([]ExplainedTool, error) {
	_, x, done, err := k.rehearse(ctx, thread, o)
	if err != nil {
		return nil, err
	}
	defer done()
	return x.tooling(), nil
}

// PlanTools plans the tools of a thread's next turn: the snapshot that the turn would freeze, and what planning found.
// Arguments, effects and errors as for [Kernel.ExplainPrompt].
func (k *Kernel) PlanTools(ctx context.Context, thread string, o Options) (*toolset.Snapshot, []contrib.Diagnostic, error) {
	_, x, done, err := k.rehearse(ctx, thread, o)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	return x.turn.plan.tools, x.diagnostics, nil
}

func (x *explanation) tooling() []ExplainedTool {
	sources, edits := map[tool.Key]*contrib.EntryInfo{}, map[tool.Key][]string{}
	discarded := false
	for _, d := range x.diagnostics {
		discarded = discarded || d.Code == tool.CodeRestrictionsDiscarded
	}
	var lost []ExplainedTool
	for _, s := range x.toolSteps {
		key := s.Tool.Definition.Key
		switch {
		case s.Kind == toolset.Claimed:
			sources[key] = s.Entry
		case discarded:
		case s.Kind == toolset.Edited:
			edits[key] = append(edits[key], s.Entry.Origin.String())
		case s.Kind == toolset.Masked:
			t := newExplainedTool(s.Tool, sources[key])
			t.Lost, t.LostTo, t.Edits = LostMasked, s.Entry.Origin.String(), edits[key]
			lost = append(lost, t)
		}
	}
	shown := map[string]*model.Tool{}
	models := x.turn.plan.tools.Models()
	for i := range models {
		shown[models[i].Name] = &models[i]
	}
	var out []ExplainedTool
	for _, t := range x.turn.plan.tools.Tools() {
		e := newExplainedTool(t, sources[t.Definition.Key])
		e.Edits = edits[t.Definition.Key]
		if m := shown[t.Flat]; m != nil {
			e.Bytes, e.Tokens = len(definitionJSON(m)), estimate.Tool(m)
		}
		if t.Binding.Unavailable {
			e.Lost = LostUnavailable
		}
		out = append(out, e)
	}
	out = append(out, lost...)
	for _, d := range x.diagnostics {
		if e, ok := x.leftOut(&d); ok {
			out = append(out, e)
		}
	}
	return out
}

func newExplainedTool(t *toolset.Tool, source *contrib.EntryInfo) ExplainedTool {
	e := ExplainedTool{Name: t.Canonical, WireName: t.Flat, Exposure: t.Definition.Exposure}
	if source != nil {
		e.Explained = explained(source)
	}
	if k := t.Definition.Key; k.Kind == tool.OwnerExternal {
		e.Owner = string(k.Kind) + ":" + k.Owner
	}
	return e
}

// definitionJSON is a tool's definition as every protocol carries it in words of its own.
func definitionJSON(m *model.Tool) []byte {
	data, err := json.Marshal(struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}{m.Name, m.Description, m.Schema})
	if err != nil {
		return m.Schema // no JSON: planning admits no such schema
	}
	return data
}

// leftOut is the registration that a diagnostic tells of.
func (x *explanation) leftOut(d *contrib.Diagnostic) (ExplainedTool, bool) {
	e := ExplainedTool{Explained: Explained{Point: d.Point, Owner: d.Origin.String()}}
	for _, s := range tool.Sources.Entries(x.turn.view, x.thread()) {
		if s.ID == d.EntryID {
			e.Explained = explained(&s.EntryInfo)
		}
	}
	word := func(key string) string {
		text, _ := d.Params[key].(string)
		return text
	}
	switch d.Code {
	case tool.CodeDuplicateName:
		e.Name, e.Lost, e.LostTo = word("name"), LostName, word("keptBy")
	case tool.CodeInvalidDefinition, tool.CodePluginToolInvalid:
		e.Name, e.Lost, e.Detail = word("toolId"), LostRefused, word("reasonCode")
		for _, more := range []string{word("keyword"), word("detail")} {
			if more != "" {
				e.Detail += ": " + more
			}
		}
	case tool.CodeDuplicateFlatName:
		if t, exact := x.turn.plan.tools.ByCanonical(word("name")); t != nil && exact {
			return e, false // it has another wire name
		}
		e.Name, e.Owner, e.Lost, e.LostTo, e.Detail = word("name"), word("owner"), LostName, word("keptBy"), "wire name "+word("flatName")
	default:
		return e, false
	}
	return e, true
}
