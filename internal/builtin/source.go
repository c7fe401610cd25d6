package builtin

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
)

// DefaultBashTimeout is the longest time of a bash call without a setting.
const DefaultBashTimeout = 120 * time.Second

// Config sets up the built-in tools. The zero value works: tools of a host without a home directory.
type Config struct {
	// Home is the host's home directory: its credential files are forbidden, and a thread may read its own directory
	// below spill.
	Home string
	// UserHome is the directory that "~" stands for. Blank: the user's home directory.
	UserHome string
	// BashTimeout is the longest time of one bash call. Zero: DefaultBashTimeout.
	BashTimeout time.Duration
	// SkillDirs are directories outside the workspace that may be read as if they were inside.
	SkillDirs []string
	// Todos keeps the todo lists. Nil: they live in memory, until the thread is released.
	Todos Todos
	// Asker puts questions to the operator. Nil: nobody is there to answer.
	Asker Asker
	// Shell is the program that runs commands. Blank: bash, or sh when there is no bash, as found on the path. Where none
	// is found there is no bash tool.
	Shell string
}

// Source is the source of the built-in tools. Its methods may be called at the same time.
type Source struct {
	config Config
	tools  []tool.Registration
	// forSubagents are tools without the question.
	forSubagents []tool.Registration
	fences       sync.Map // workspace to *fence.Fence
	seen         memory
	locks        locks
	todos        Todos
	asker        Asker
	signal       func(thread.Signal) // tells that the operator is asked; nil: nobody
	kept         *todoMemory         // the todos, when nobody else keeps them
}

// New makes the source.
func New(c Config) *Source {
	if c.BashTimeout <= 0 {
		c.BashTimeout = DefaultBashTimeout
	}
	if c.Shell == "" {
		c.Shell = findShell()
	}
	s := &Source{config: c, todos: c.Todos, asker: c.Asker}
	if s.todos == nil {
		s.kept = &todoMemory{}
		s.todos = s.kept
	}
	s.tools = []tool.Registration{
		s.registration(readTool), s.registration(listTool), s.registration(globTool), s.registration(grepTool),
		s.registration(todowriteTool), s.registration(todoreadTool), s.registration(questionTool),
		s.registration(editTool), s.registration(writeTool),
	}
	if c.Shell != "" {
		s.tools = append(s.tools, s.registration(bashTool))
	}
	for _, r := range s.tools {
		if r.Definition.Name != questionTool.name {
			s.forSubagents = append(s.forSubagents, r)
		}
	}
	return s
}

func findShell() string {
	for _, name := range [...]string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			if path, err = filepath.Abs(path); err == nil {
				return path
			}
		}
	}
	return ""
}

var (
	_ tool.FixedSource    = (*Source)(nil)
	_ tool.ThreadReleaser = (*Source)(nil)
)

// SourceID returns tools:builtin.
func (s *Source) SourceID() string { return tool.SourceBuiltin }

// Tools returns the built-in tools. A subagent gets all but the question: only the main agent can ask.
func (s *Source) Tools(_ context.Context, p tool.Planning) ([]tool.Registration, error) {
	if p.ThreadKind == "subagent" {
		return s.forSubagents, nil
	}
	return s.tools, nil
}

// FixedTools says that the answer of Tools depends on its planning input alone.
func (s *Source) FixedTools() {}

// ReleaseThread forgets what the thread has read and written, and the todos that nobody else keeps.
func (s *Source) ReleaseThread(_ context.Context, thread string) error {
	s.seen.release(thread)
	if s.kept != nil {
		s.kept.release(thread)
	}
	return nil
}

// fence returns the fence of a workspace, as one thread sees it.
func (s *Source) fence(workspace, thread string) *fence.Fence {
	f, ok := s.fences.Load(workspace)
	if !ok {
		f, _ = s.fences.LoadOrStore(workspace, fence.New(fence.Config{
			Workspace: workspace, Home: s.config.Home, UserHome: s.config.UserHome, Inside: s.config.SkillDirs,
		}))
	}
	base := f.(*fence.Fence)
	if s.config.Home == "" || thread == "" || thread == ".." || strings.ContainsAny(thread, `/\`) {
		return base
	}
	return base.With(filepath.Join(s.config.Home, "spill", thread))
}

type params struct {
	fx.In

	Config Config         `optional:"true"`
	Todos  Todos          `optional:"true"`
	Asker  Asker          `optional:"true"`
	Kernel *kernel.Kernel `optional:"true"`
}

func fromGraph(p params) *Source {
	c := p.Config
	if c.Todos == nil {
		c.Todos = p.Todos
	}
	if c.Asker == nil {
		c.Asker = p.Asker
	}
	s := New(c)
	if p.Kernel != nil {
		s.signal = p.Kernel.Signal
	}
	return s
}

// Module contributes the built-in tools. It provides *Source, and takes Config, Todos and Asker from the graph when they
// are there.
var Module = fx.Options(
	fx.Provide(fromGraph),
	contrib.ProvideSet(func(s *Source) contrib.Set {
		return contrib.Set{
			contrib.Item[tool.Source](tool.Sources, s, contrib.Named(tool.SourceBuiltin), contrib.Order(100)),
		}
	}),
)
