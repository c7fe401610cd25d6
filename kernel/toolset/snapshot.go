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

// names finds tools by one kind of name.
type names struct {
	exact  map[string]*Tool
	folded map[string]*Tool // by the name in lower case; nil where several share it
}

func newNames(tools []*Tool, name func(*Tool) string) names {
	n := names{make(map[string]*Tool, len(tools)), make(map[string]*Tool, len(tools))}
	for _, t := range tools {
		own := name(t)
		n.exact[own] = t
		low := lower(own)
		if _, shared := n.folded[low]; shared {
			n.folded[low] = nil
		} else {
			n.folded[low] = t
		}
	}
	return n
}

func (n names) find(name string) (*Tool, bool) {
	if t := n.exact[name]; t != nil {
		return t, true
	}
	return n.folded[lower(name)], false
}

// lower folds the ASCII case.
func lower(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return strings.Map(func(r rune) rune {
				if r >= 'A' && r <= 'Z' {
					return r + 'a' - 'A'
				}
				return r
			}, s)
		}
	}
	return s
}

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
		list = append(list, near{own, distance(wanted, lower(own))})
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

// distance is the number of bytes to insert, remove or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		corner := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			if a[i-1] == b[j-1] {
				row[j] = corner
			} else {
				row[j] = 1 + min(corner, above, row[j-1])
			}
			corner = above
		}
	}
	return row[len(b)]
}

func cut(s string, n int) string { return s[:min(len(s), n)] }
