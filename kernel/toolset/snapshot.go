package toolset

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/kernel/schema"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// Tool is one planned tool: what a call needs, resolved once. It is immutable.
type Tool struct {
	Definition *tool.Definition // as the restrictions left it, with every default filled in
	Canonical  string           // ns.name
	Summary    string           // of a call, when nobody says it better
	Flat       string           // what a model protocol sees
	Input      *schema.Schema
	Output     *schema.Schema // nil: none
	Binding    tool.Binding   // ID and Timeout are set
}

// listed reports whether the model is shown the tool.
func (t *Tool) listed() bool {
	d := t.Definition
	return !t.Binding.Unavailable && d.Audiences&tool.AudienceModel != 0 &&
		(d.Exposure == tool.Direct || d.Exposure == tool.DirectModelOnly)
}

// Snapshot is the frozen tool set of one turn, its subcalls included. It is immutable and safe for use by several
// goroutines. The zero value holds no tool.
type Snapshot struct {
	tools     []*Tool
	models    []model.Tool
	flat      names
	canonical names
}

// Models returns what the model is shown: available tools for the model with exposure direct or direct_model_only,
// sorted by namespace, then name. The slice is shared and must not be changed.
func (s *Snapshot) Models() []model.Tool { return s.models }

// Tools returns every tool, hidden and unavailable ones included, sorted by namespace, then name. The slice is shared
// and must not be changed.
func (s *Snapshot) Tools() []*Tool { return s.tools }

// ByFlat finds a tool by the name that a model uses. exact is false when only the ASCII case differed and one tool
// alone matched. A nil tool means that there is none.
func (s *Snapshot) ByFlat(name string) (t *Tool, exact bool) { return s.flat.find(name) }

// ByCanonical finds a tool by its canonical name, with the rule of [Snapshot.ByFlat].
func (s *Snapshot) ByCanonical(name string) (t *Tool, exact bool) { return s.canonical.find(name) }

// Nearest returns at most n names that are like name, the nearest first: flat names for the model, canonical names for
// others, and only of tools that the audience may call.
func (s *Snapshot) Nearest(name string, audience tool.Audiences, n int) []string {
	type near struct {
		name     string
		distance int
	}
	wanted := lower(cut(name, maxFlat))
	var list []near
	for _, t := range s.tools {
		if !t.Callable(audience) || t.Binding.Unavailable {
			continue
		}
		own := t.Canonical
		if audience == tool.AudienceModel {
			own = t.Flat
		}
		list = append(list, near{own, Distance(wanted, lower(own))})
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	out := make([]string, 0, min(n, len(list)))
	for _, c := range list[:min(n, len(list))] {
		out = append(out, c.name)
	}
	return out
}

// Callable reports whether audience and exposure let the audience call the tool.
func (t *Tool) Callable(audience tool.Audiences) bool {
	d := t.Definition
	switch {
	case d.Audiences&audience == 0:
		return false
	case d.Exposure == tool.Hidden:
		return audience != tool.AudienceModel
	case d.Exposure == tool.DirectModelOnly:
		return audience == tool.AudienceModel
	}
	return true
}
