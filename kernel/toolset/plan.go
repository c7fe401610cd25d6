package toolset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/schema"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// maxRegistrations is how many registrations of one source are taken.
const maxRegistrations = 512

// Inputs is what a planning pass works on.
type Inputs struct {
	Sources      []contrib.Entry[tool.Source]      // materialised, in resolved order
	Restrictions []contrib.Entry[tool.Restriction] // materialised, in resolved order
	Planning     tool.Planning
	Report       contrib.Report // receives entries that failed and were skipped; nil drops them
	Reserved     []string       // canonical names of all built-in tools of this host, whatever the catalog
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
	tools := p.claim(offered)
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

// offer is what one source gave.
type offer struct {
	entry  *contrib.EntryInfo
	source string
	list   []tool.Registration
}

// gather asks the sources, one after another, and admits what they give.
func (p *pass) gather(ctx context.Context) ([]candidate, error) {
	offers := make([]offer, 0, len(p.in.Sources))
	total := 0
	for i := range p.in.Sources {
		o, err := p.ask(ctx, p.in.Sources[i:i+1])
		if err != nil {
			return nil, err
		}
		total += len(o.list)
		offers = append(offers, o)
	}
	p.made = make([]made, 0, total+1)
	p.claims = make(map[string]*Tool, total)
	candidates := make([]candidate, 0, total)
	for i := range offers {
		o := &offers[i]
		for j := range o.list {
			t := p.take(&o.list[j], o.source, o.entry)
			if t == nil {
				continue
			}
			if t.Definition.Key.Kind == tool.OwnerBuiltin {
				p.reserved[lower(t.Canonical)] = owner(t.Definition.Key)
			}
			if t.Definition.Catalogs&p.in.Planning.Catalog != 0 {
				candidates = append(candidates, candidate{t, o.entry})
			}
		}
	}
	return candidates, nil
}

// take admits one registration, or records why not.
func (p *pass) take(r *tool.Registration, source string, e *contrib.EntryInfo) *Tool {
	key := keyOf(e.Origin, source, r.Definition.Key, r.Definition.ID)
	t, f := p.admit(r, source, e)
	if f == nil {
		if _, twice := p.ids[key]; twice {
			f = &fault{reason: "duplicateId", detail: "the owner has already given this tool id"}
		}
	}
	if f != nil {
		p.refuse(f, key, source, e)
		return nil
	}
	p.ids[key] = struct{}{}
	return t
}

// ask asks one source. Panics and deadlines are failures of that source.
func (p *pass) ask(ctx context.Context, one []contrib.Entry[tool.Source]) (offer, error) {
	e := &one[0].EntryInfo
	o := offer{entry: e}
	var failure error
	failed := false
	err := contrib.FanOut(ctx, one, func(ctx context.Context, s tool.Source) error {
		if e.Deadline > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, e.Deadline)
			defer cancel()
		}
		o.source = s.SourceID()
		list, err := s.Tools(ctx, p.in.Planning)
		if err != nil {
			failure = err
			return err
		}
		if !validID(o.source) {
			failure = fmt.Errorf("toolset: the source id %s is not 1 to 128 bytes of text", quoted(o.source))
			return failure
		}
		o.list = list
		return nil
	}, func(info *contrib.EntryInfo, c *contrib.CallError) {
		failed = true
		if failure == nil {
			failure = c
		}
		if e.Origin.Kind() != string(tool.OwnerBuiltin) {
			p.in.Report(info, c)
		}
	})
	switch {
	case err != nil:
		return o, err
	case failed && e.Origin.Kind() == string(tool.OwnerBuiltin):
		return o, fmt.Errorf("toolset: the built-in source %s failed, so no tools are planned: %w", quoted(o.source), failure)
	case failed:
		p.refuse(&fault{reason: reasonSourceFailed}, keyOf(e.Origin, o.source, tool.Key{}, ""), o.source, e)
		o.list = nil
	case len(o.list) > maxRegistrations && e.Origin.Kind() != string(tool.OwnerBuiltin):
		p.refuse(&fault{reason: reasonSourceFailed, detail: "tooMany"}, keyOf(e.Origin, o.source, tool.Key{}, ""), o.source, e)
		o.list = o.list[:maxRegistrations]
	}
	return o, nil
}

// claim gives each canonical name to the first that asks for it; built-in names belong to built-ins.
func (p *pass) claim(candidates []candidate) []*Tool {
	tools := make([]*Tool, 0, len(candidates)+1)
	for _, c := range candidates {
		d := c.tool.Definition
		keeper := ""
		if d.Key.Kind != tool.OwnerBuiltin {
			keeper = p.reserved[lower(c.tool.Canonical)]
		}
		if first := p.claims[c.tool.Canonical]; keeper == "" && first != nil {
			keeper = owner(first.Definition.Key)
		}
		if keeper != "" {
			p.note(contrib.Diagnostic{
				Code: tool.CodeDuplicateName, Severity: contrib.Warning, EntryID: c.entry.ID, Origin: c.entry.Origin,
				Message: fmt.Sprintf("The tool %s of %s was left out: %s keeps the name.", c.tool.Canonical, owner(d.Key), keeper),
				Params:  map[string]any{"name": c.tool.Canonical, "owner": owner(d.Key), "keptBy": keeper},
			})
			continue
		}
		p.claims[c.tool.Canonical] = c.tool
		tools = append(tools, c.tool)
	}
	return tools
}

// describeNamespaces makes one description of each namespace.
func (p *pass) describeNamespaces(tools []*Tool) {
	texts := map[string]string{}
	conflicts := map[string][]string{}
	for _, t := range tools {
		d := t.Definition
		if d.Namespace == "" || d.NamespaceDescription == "" {
			continue
		}
		if first, ok := texts[d.Namespace]; !ok {
			texts[d.Namespace] = d.NamespaceDescription
		} else if first != d.NamespaceDescription {
			conflicts[d.Namespace] = nil
		}
	}
	if len(conflicts) == 0 {
		return
	}
	for _, t := range tools {
		d := t.Definition
		owners, conflict := conflicts[d.Namespace]
		if !conflict {
			continue
		}
		if own := owner(d.Key); !slices.Contains(owners, own) {
			conflicts[d.Namespace] = append(owners, own)
		}
		d.NamespaceDescription = "Tools of the namespace " + d.Namespace + "."
	}
	spaces := make([]string, 0, len(conflicts))
	for ns := range conflicts {
		spaces = append(spaces, ns)
	}
	slices.Sort(spaces)
	for _, ns := range spaces {
		p.note(contrib.Diagnostic{
			Code: tool.CodeNamespaceDescriptionConflict, Severity: contrib.Info,
			Message: "The namespace " + ns + " is described in several ways; a generic text is used.",
			Params:  map[string]any{"namespace": ns, "owners": conflicts[ns]},
		})
	}
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
