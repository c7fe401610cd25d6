package composer

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/agent"
)

// Memory is the built-in source of agent.context: its provider composes the whole system prompt of an open thread. What a
// provider with a lower order left as instructions follows it after a blank line. For a thread that is not open there is
// no provider.
func Memory(r *contrib.Registry, l *Live) agent.Source { return &memory{r, l} }

type memory struct {
	registry *contrib.Registry
	live     *Live
}

var _ agent.Source = (*memory)(nil)

// Provider returns the provider of an open thread.
func (m *memory) Provider(_ context.Context, r agent.Request) (agent.Provider, error) {
	t := m.live.find(r.Thread)
	if t == nil {
		return nil, nil
	}
	if t.provider == nil {
		t.provider = &composed{m.registry, t}
	}
	return t.provider, nil
}

// composed is the provider of one thread.
type composed struct {
	registry *contrib.Registry
	thread   *Thread
}

// Transform composes the prompt.
func (p *composed) Transform(ctx context.Context, c agent.Context) (*agent.Context, error) {
	text, err := p.thread.Prompt(ctx, p.registry.View())
	if err != nil {
		return nil, err
	}
	c.Instructions = Append(text, c.Instructions)
	return &c, nil
}
