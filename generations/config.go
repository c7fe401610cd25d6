package generations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// DefaultTimeout is the activation timeout of a [Config] that sets none.
const DefaultTimeout = 30 * time.Second

// App is what a generation is made of: the fx app of a plugin's module.
type App interface {
	Start(context.Context) error
	Stop(context.Context) error
}

// Scope is what the builder of an app gets.
type Scope struct {
	Lifetime  *Lifetime
	Registrar *contrib.Registrar
}

// Fault counts as a failure of background work with that name: what a plugin does that calls the shutdowner of its own
// app. It does not block. Before the commit it is remembered, and told after it.
func (s *Scope) Fault(work string) { s.Lifetime.failure(work) }

// Pin returns a value that keeps the generation's root reachable. Objects of the host that are made for plugin code, such
// as its settings and its logger, hold it, so that keeping one of them is seen as a leak.
func (s *Scope) Pin() any { return s.Lifetime.core.root }

// Config describes one activation.
type Config struct {
	Plugin   string // plugin id
	ID       string // generation id, never used before
	Registry *contrib.Registry
	Gates    *Table        // where the gate is put at the commit; nil: nowhere
	Logger   *slog.Logger  // of the host's log file; nil discards
	Timeout  time.Duration // zero: DefaultTimeout

	// Build runs the constructors of the plugin, on a goroutine with its labels. A nil App has no hooks. An App that is
	// returned with an error is not stopped.
	Build func(ctx context.Context, s *Scope) (App, error)
	// OnSeal runs when the registrar was sealed: exports and imports are sealed here. nil: nothing to seal.
	OnSeal func() error
	// Admit is the last check before the commit; nil allows.
	Admit func() error
	// OnCommit runs on the goroutine of Activate, after the publication and before background work starts.
	OnCommit func(g *Generation)
	// OnDrop drops the exports, in a teardown and in a rollback.
	OnDrop func()
	// OnFault is told once that background work failed, after OnCommit has returned. It may be told before Activate has
	// returned. It must neither block nor wait for the teardown.
	OnFault func(work string)
	// Failpoint is called with the name of each step before it is done; an error fails that step. For tests.
	Failpoint func(step string) error
}

// complete checks the config, fills in defaults and returns the origin of the generation.
func (c *Config) complete() (contrib.Origin, error) {
	var none contrib.Origin
	if c.Registry == nil || c.Build == nil {
		return none, errors.New("generations: an activation needs a registry and a builder")
	}
	if c.Timeout < 0 {
		return none, fmt.Errorf("generations: activation timeout %v is negative", c.Timeout)
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	o, err := contrib.Plugin(c.Plugin, c.ID)
	if err != nil {
		return none, fmt.Errorf("generations: activation: %w", err)
	}
	return o, nil
}
