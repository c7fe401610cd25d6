package toolset

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/schema"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// Tool is one planned tool: what a call needs, resolved once. It is immutable.
type Tool struct {
	Definition *tool.Definition // as the restrictions left it
	Canonical  string           // ns.name
	Flat       string           // what a model protocol sees
	Input      *schema.Schema
	Output     *schema.Schema // nil: none
	Binding    tool.Binding   // ID and Timeout are set
}

// Snapshot is the frozen tool set of one turn. It is immutable and safe for use by several goroutines.
type Snapshot struct {
	tools  []*Tool
	models []model.Tool
}

// Models returns what the model is shown: available tools with exposure direct or direct_model_only, sorted by
// namespace, then name. The slice is shared and must not be changed.
func (s *Snapshot) Models() []model.Tool { return s.models }

// Tools returns every tool, hidden and unavailable ones included, in the order of Models. The slice is shared and must
// not be changed.
func (s *Snapshot) Tools() []*Tool { return s.tools }

// ByFlat finds a tool by the name that a model uses. exact is false when only the ASCII case differed and one tool
// alone matched. A nil tool: none.
func (s *Snapshot) ByFlat(name string) (t *Tool, exact bool) { return nil, false }

// ByCanonical finds a tool by its canonical name, with the rule of [Snapshot.ByFlat].
func (s *Snapshot) ByCanonical(name string) (t *Tool, exact bool) { return nil, false }

// Nearest returns at most n names that are like name, the nearest first: flat names for the model, canonical ones
// otherwise, of tools that the audience may call.
func (s *Snapshot) Nearest(name string, audience tool.Audiences, n int) []string { return nil }

// Project returns the flat name under which a call of an older turn is shown now: the present flat name of a tool with
// that canonical or flat name, else the name without what a protocol refuses.
func (s *Snapshot) Project(name string) string { return name }

// Find returns deferred tools whose search text or name holds every word of query, nearest first, at most n.
func (s *Snapshot) Find(query string, n int) []*Tool { return nil }

// Inputs is what a planning pass works on.
type Inputs struct {
	Sources      []contrib.Entry[tool.Source]      // materialised, in resolved order
	Restrictions []contrib.Entry[tool.Restriction] // materialised, in resolved order
	Planning     tool.Planning
	Report       contrib.Report // receives entries that failed and were skipped; nil drops them
	Reserved     []string       // canonical names of all built-in tools of this host, whatever the catalog
	// Search makes the built-in that finds deferred tools. It is asked only when there are some; nil: no search.
	Search func(deferred []*Tool) (tool.Registration, bool)
}

// Plan runs one planning pass. The error is that of a built-in source: it fails the pass. Everything else that was left
// out is a diagnostic.
func Plan(ctx context.Context, in Inputs) (*Snapshot, []contrib.Diagnostic, error) {
	return &Snapshot{}, nil, nil
}

// DefaultTimeout is the time of one invocation of a tool that names none.
const DefaultTimeout = 120 * time.Second
