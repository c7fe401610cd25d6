package toolset

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/schema"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// Inputs is what a planning pass works on.
type Inputs struct {
	Sources      []contrib.Entry[tool.Source]      // materialised, in resolved order
	Restrictions []contrib.Entry[tool.Restriction] // materialised, in resolved order
	Planning     tool.Planning
	Report       contrib.Report // receives entries that failed and were skipped; nil drops them
	Reserved     []string       // canonical names of all built-in tools of this host, whatever the catalog
	Only         []string       // canonical names of the tools that are left; nil: all. Tools of scope runtime stay
	// Trace is told of each step that was taken with a tool; nil for nobody.
	Trace func(Step)
	// Search makes the built-in that finds deferred tools. It is asked only when there are some. nil, or false: there is
	// no search.
	Search func(deferred []*Tool) (tool.Registration, bool)
}

// pass is one planning pass.
type pass struct {
	in       Inputs
	schemas  *schema.Cache
	revision string
	made     []made
	notes    []contrib.Diagnostic
	reserved map[string]string // canonical name, ASCII case folded -> owner
	claims   map[string]*Tool
	ids      map[tool.Key]struct{}
}

// schemas outlives passes: tools are planned again at each change and seldom change themselves.
var schemas schema.Cache

// Plan runs one planning pass. The error is that of a built-in source, which fails the pass, or the end of ctx.
// Everything else that was left out is told by a diagnostic; its Seq and Time are set by whoever records it.
func Plan(ctx context.Context, in Inputs) (*Snapshot, []contrib.Diagnostic, error) {
	p := &pass{
		in: in, schemas: &schemas, revision: strconv.FormatUint(in.Planning.Revision, 10),
		reserved: make(map[string]string, len(in.Reserved)),
		ids:      map[tool.Key]struct{}{},
	}
	if p.in.Report == nil {
		p.in.Report = func(*contrib.EntryInfo, *contrib.CallError) {}
	}
	for _, name := range in.Reserved {
		p.reserved[lower(name)] = string(tool.OwnerBuiltin)
	}
	offered, err := p.gather(ctx)
	if err != nil {
		return nil, p.notes, err
	}
	tools := p.only(p.claim(offered))
	if tools, err = p.restrict(ctx, tools); err != nil {
		return nil, p.notes, err
	}
	p.describeNamespaces(tools)
	tools = p.project(p.search(tools))
	return freeze(tools), p.notes, nil
}

func (p *pass) note(d contrib.Diagnostic) {
	if d.Point == "" {
		d.Point = tool.Sources.Name()
	}
	p.notes = append(p.notes, d)
}

// only leaves out the tools that were not asked for. They keep their names.
func (p *pass) only(tools []*Tool) []*Tool {
	if p.in.Only == nil {
		return tools
	}
	return slices.DeleteFunc(tools, func(t *Tool) bool {
		return t.Definition.PolicyScope != tool.ScopeRuntime && !slices.Contains(p.in.Only, t.Canonical)
	})
}

// search adds the built-in that finds deferred tools, when there are some.
func (p *pass) search(tools []*Tool) []*Tool {
	if p.in.Search == nil {
		return tools
	}
	var deferred []*Tool
	for _, t := range tools {
		if t.Definition.Exposure == tool.DeferredTool && !t.Binding.Unavailable && t.Definition.Audiences&tool.AudienceModel != 0 {
			deferred = append(deferred, t)
		}
	}
	if len(deferred) == 0 {
		return tools
	}
	r, ok := p.in.Search(deferred)
	if !ok {
		return tools
	}
	e := &contrib.EntryInfo{Origin: contrib.Builtin()}
	t := p.take(&r, tool.SourceBuiltin, e)
	if t == nil {
		return tools
	}
	return append(tools, p.claim([]candidate{{t, e}})...)
}

// freeze sorts the tools and builds what is looked up during the turn.
func freeze(tools []*Tool) *Snapshot {
	slices.SortStableFunc(tools, func(a, b *Tool) int {
		return cmp.Or(cmp.Compare(a.Definition.Namespace, b.Definition.Namespace), cmp.Compare(a.Definition.Name, b.Definition.Name))
	})
	s := &Snapshot{
		tools:     tools,
		models:    make([]model.Tool, 0, len(tools)),
		flat:      newNames(tools, func(t *Tool) string { return t.Flat }),
		canonical: newNames(tools, func(t *Tool) string { return t.Canonical }),
	}
	for _, t := range tools {
		if t.listed() {
			s.models = append(s.models, model.Tool{Name: t.Flat, Description: t.Definition.Description, Schema: t.Input.JSON()})
		}
	}
	return s
}
