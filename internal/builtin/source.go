package builtin

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// Config sets up the built-in tools. The zero value works: tools of a host without a home directory.
type Config struct {
	// Home is the host's home directory: its credential files are forbidden, and its spill directory may be read.
	Home string
	// UserHome is the directory that "~" stands for. Blank: the user's home directory.
	UserHome string
	// BashTimeout is the longest time of one bash call. Zero: 120 s.
	BashTimeout time.Duration
	// SkillDirs are directories outside the workspace that may be read as if they were inside.
	SkillDirs []string
}

// Source is the source of the built-in tools. Its methods may be called at the same time.
type Source struct {
	config Config
}

// New makes the source.
func New(c Config) *Source { return &Source{config: c} }

var (
	_ tool.Source         = (*Source)(nil)
	_ tool.ThreadReleaser = (*Source)(nil)
)

// SourceID returns tools:builtin.
func (s *Source) SourceID() string { return tool.SourceBuiltin }

// Tools returns the built-in tools.
func (s *Source) Tools(context.Context, tool.Planning) ([]tool.Registration, error) { return nil, nil }

// ReleaseThread forgets what the thread has read and written.
func (s *Source) ReleaseThread(context.Context, string) error { return nil }

type params struct {
	fx.In

	Config Config `optional:"true"`
}

// Module contributes the built-in tools. It takes an optional Config from the graph.
var Module = fx.Options(
	fx.Provide(func(p params) *Source { return New(p.Config) }),
	contrib.ProvideSet(func(s *Source) contrib.Set {
		return contrib.Set{contrib.Item[tool.Source](tool.Sources, s,
			contrib.Named(tool.SourceBuiltin), contrib.Order(100))}
	}),
)
