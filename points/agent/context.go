package agent

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/model"
)

// Prompt holds the inputs that the built-in source memory composes from.
type Prompt struct {
	Tools              []string // names of the tools that are available
	DeferredNamespaces []string
	SubagentProfiles   []string
	Mode               string
}

// Request asks a source for its provider.
type Request struct {
	Thread    string
	Workspace string
	Agent     string // type of the subagent; blank for the main agent
	Prompt    Prompt
}

// Context is what a provider transforms before a request is sent.
type Context struct {
	Instructions string
	Messages     []*model.Item // shared with the thread, must not be changed
	Tools        []string
}

// Source gives the provider of one thread. A nil provider declines: from a replacement of memory it lets the built-in
// compose, from others it is left out.
type Source interface {
	Provider(ctx context.Context, r Request) (Provider, error)
}

// SourceFunc makes a Source of a function.
func SourceFunc(f func(ctx context.Context, r Request) (Provider, error)) Source {
	return sourceFunc(f)
}

type sourceFunc func(ctx context.Context, r Request) (Provider, error)

func (f sourceFunc) Provider(ctx context.Context, r Request) (Provider, error) { return f(ctx, r) }

// Provider transforms the context of a request; nil keeps it. A plugin's provider may change the instructions alone.
type Provider interface {
	Transform(ctx context.Context, c Context) (*Context, error)
}

// ProviderFunc adapts a function to Provider.
type ProviderFunc func(ctx context.Context, c Context) (*Context, error)

// Transform calls f.
func (f ProviderFunc) Transform(ctx context.Context, c Context) (*Context, error) { return f(ctx, c) }

// Memory is the target of the built-in source, which composes the whole system prompt.
const Memory = "memory"

// Contexts is the point agent.context.
var Contexts = contrib.Define(contrib.Spec[Source]{
	Name: "agent.context", Doc: "Transforms the instructions of the agent before a request is sent.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.Materialised, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Targets: []contrib.Target{{Name: Memory, Order: 100, Doc: "Composes the whole system prompt."}},
	Guard:   guardSource,
})
