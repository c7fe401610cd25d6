package exectool

import (
	"context"
	"sync"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/tool"
)

// Config says which tools there are. The zero Config has none.
type Config struct {
	// Sets are the directories that were found. Those that are loaded are offered, in their order.
	Sets []home.ToolSetRow
	// Approval says for which tree the wish of a set's author counts.
	Approval home.ExternalApproval
	// Home is the host's home directory: its credential files are forbidden.
	Home string
	// UserHome is the directory that "~" stands for in paths. Blank: the user's home directory.
	UserHome string
}

// Source is the source of the tools of external tool sets. Its methods may be called at the same time.
type Source struct {
	config Config
	tools  []tool.Registration
	fences sync.Map // workspace to *fence.Fence
}

// New makes the source.
func New(c Config) *Source {
	s := &Source{config: c}
	for i := range c.Sets {
		row := &c.Sets[i]
		if !row.Loaded() {
			continue
		}
		for k := range row.ToolSet.Tools {
			s.tools = append(s.tools, s.registration(&program{
				source: s, set: row, tool: &row.ToolSet.Tools[k],
				always: row.ToolSet.Tools[k].Always && s.authorDecides(row.Source),
			}))
		}
	}
	return s
}

// authorDecides reports whether the wish of the sets of a tree counts.
func (s *Source) authorDecides(tree plugins.Source) bool {
	if tree == plugins.SourceProject {
		return s.config.Approval.Project == "author"
	}
	return s.config.Approval.Home == "author"
}

var _ tool.FixedSource = (*Source)(nil)

// SourceID returns tools:external.
func (s *Source) SourceID() string { return tool.SourceExternal }

// Tools returns the tools of all sets.
func (s *Source) Tools(context.Context, tool.Planning) ([]tool.Registration, error) {
	return s.tools, nil
}

// FixedTools says that the answer of Tools never changes.
func (s *Source) FixedTools() {}

// program is one tool.
type program struct {
	source *Source
	set    *home.ToolSetRow
	tool   *home.ExternalTool
	always bool // calls that stay in the workspace run unasked
}

func (s *Source) registration(p *program) tool.Registration {
	var catalogs tool.Catalogs
	if p.tool.Plan {
		catalogs |= tool.CatalogPlan
	}
	if p.tool.Work {
		catalogs |= tool.CatalogWork
	}
	return tool.Registration{
		Definition: tool.Definition{
			Key: tool.Key{Kind: tool.OwnerExternal, Owner: Owner(p.set), ID: p.tool.Name},
			ID:  p.tool.Name, Name: p.tool.Name, Description: p.tool.Description, InputSchema: p.tool.Schema,
			Catalogs: catalogs,
		},
		Binding: tool.Binding{
			Runtime:  tool.RuntimeFunc(p.invoke),
			Classify: p.classify,
			Timeout:  tool.Unlimited, // it has a limit of its own, with a result of its own
		},
	}
}

// Owner is the owner id of the tools of a set: <source>/<directory>.
func Owner(set *home.ToolSetRow) string { return string(set.Source) + "/" + set.Directory }

// fence returns the fence of a workspace.
func (s *Source) fence(workspace string) *fence.Fence {
	f, ok := s.fences.Load(workspace)
	if !ok {
		f, _ = s.fences.LoadOrStore(workspace, fence.New(fence.Config{
			Workspace: workspace, Home: s.config.Home, UserHome: s.config.UserHome,
		}))
	}
	return f.(*fence.Fence)
}

// Module contributes the tools of a configuration.
func Module(c Config) fx.Option {
	return contrib.Supply[tool.Source](tool.Sources, New(c), contrib.Named(tool.SourceExternal), contrib.Order(800))
}
