package plugins

import (
	"context"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
)

// Runtime runs plugins: it activates them in load order, switches them, restarts them and stops them. All methods may be
// called from any goroutine. Operations run one after another; reading a snapshot waits for nobody.
type Runtime struct{}

// New makes a runtime for the plugins that are compiled into the host. Nothing runs before [Runtime.Start]. Two plugins
// with one id are an error that matches [ErrDuplicateID].
func New(registry *contrib.Registry, o Options, list ...Plugin) (*Runtime, error) { panic("stub") }

// Module is the runtime as a part of a host's fx app. It takes *contrib.Registry, and if they are there *slog.Logger and
// [Options], from the graph, provides *Runtime, activates the plugins when the app starts and shuts them down when it stops.
func Module(list ...Plugin) fx.Option { panic("stub") }

// AsModule installs the plugin straight into a host's fx app as a trusted module: origin module:<id>, direct values, no
// guard and no gate.
func (p Plugin) AsModule() fx.Option { panic("stub") }

// Start reads the inputs and activates all enabled plugins in load order. A plugin that fails stops no other.
func (r *Runtime) Start(ctx context.Context) error { panic("stub") }

// SetEnabled switches a plugin on or off.
func (r *Runtime) SetEnabled(ctx context.Context, id string, on bool, scope Scope) (Result, error) {
	panic("stub")
}

// Quiesce stops the plugins and their dependants until Reconcile.
func (r *Runtime) Quiesce(ctx context.Context, ids ...string) (Result, error) { panic("stub") }

// Reconcile reads the inputs again and brings the plugins back up.
func (r *Runtime) Reconcile(ctx context.Context, ids ...string) (Result, error) { panic("stub") }

// Snapshot returns the newest snapshot.
func (r *Runtime) Snapshot() *Snapshot { panic("stub") }

// Subscribe calls fn for each new snapshot, in order.
func (r *Runtime) Subscribe(name string, fn func(Event)) (cancel func()) { panic("stub") }

// Attach publishes the host's catalogs to [Environment].
func (r *Runtime) Attach(c Catalog) { panic("stub") }

// Environment returns the live picture that generations get.
func (r *Runtime) Environment() Environment { panic("stub") }

// Shutdown stops all plugins, dependants first, and waits for their teardown.
func (r *Runtime) Shutdown(ctx context.Context) error { panic("stub") }
