package toolset

import (
	"fmt"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

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
		p.trace(Claimed, c.tool, c.entry)
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
