package plugins

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/generations"
)

// Runtime runs plugins: it activates them in load order, switches them, restarts them and stops them. Make it with [New]
// or [Module]. All methods may be called from any goroutine. Operations run one after another; reading a snapshot waits
// for nobody.
type Runtime struct {
	registry *contrib.Registry
	options  Options
	limits   Timeouts
	compiled []Plugin
	catalog  *liveCatalog
	gates    generations.Table
	watch    *generations.Watch
	serial   generationIDs

	// lock is the mutation lock: a channel, so that waiting for it can be given up.
	lock     chan struct{}
	nodes    map[string]*node
	graph    *deps.Graph
	switches map[string]bool // of this process; they outlive a node
	inputs   Inputs
	op       *operation // the operation that is running

	mu       sync.Mutex // guards what snapshots show; never held while code of others runs
	statuses map[string]Status
	snapshot atomic.Pointer[Snapshot]
	news     herald

	begun     sync.Once
	closing   atomic.Bool
	shut      sync.Once
	closed    chan struct{}
	attendant attendant
}

// New makes a runtime for the plugins that are compiled into the host. Nothing of a plugin runs before [Runtime.Start].
// The error matches [ErrDuplicateID], [ErrShared] or [ErrOptions].
func New(registry *contrib.Registry, o Options, list ...Plugin) (*Runtime, error) {
	if registry == nil {
		return nil, fmt.Errorf("%w: no registry", ErrOptions)
	}
	limits, err := o.Timeouts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := checkShared(o.Shared, o.Private); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(list))
	for _, p := range list {
		if seen[p.ID] {
			return nil, fmt.Errorf("%w: %q is listed twice; each plugin is listed once", ErrDuplicateID, p.ID)
		}
		seen[p.ID] = true
	}
	o.Logger = o.logger()
	r := &Runtime{
		registry: registry, options: o, limits: limits, compiled: list, catalog: &liveCatalog{},
		lock: make(chan struct{}, 1), nodes: map[string]*node{}, graph: deps.NewGraph(nil),
		switches: map[string]bool{}, statuses: map[string]Status{}, closed: make(chan struct{}),
	}
	for id, on := range o.Switches {
		r.switches[id] = on
	}
	r.snapshot.Store(&Snapshot{})
	r.attendant.wake = make(chan struct{}, 1)
	r.news.init(registry)
	r.watch, err = generations.NewWatch(generations.WatchConfig{
		PollFirst: limits.PollFirst, PollHighest: max(limits.PollFirst, limits.PollHighest),
		RestartAfter: limits.RestartAt, Stacks: limits.LeakStacks, StackBytes: limits.LeakStackBytes,
		OnChange: func(string) { r.post(reclaimed{}) }, Logger: o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return r, nil
}

// Start reads the inputs and activates all enabled plugins in load order. A plugin that is blocked or faulted stops no
// other one and is no error. An error comes from reading the inputs, or matches [ErrUnknownPlugin] when a switch of
// [Options] names no plugin; the runtime is shut down then. A second call does nothing.
func (r *Runtime) Start(ctx context.Context) (err error) {
	r.begun.Do(func() {
		r.attendant.tasks.Go(r.attend)
		r.attendant.tasks.Go(r.announce)
		if err = r.start(ctx); err != nil {
			err = errors.Join(err, r.Shutdown(ctx))
		}
	})
	return err
}

func (r *Runtime) start(ctx context.Context) error {
	done, err := r.begin(ctx)
	if err != nil {
		return fmt.Errorf("plugins: start: %w", err)
	}
	defer done()
	if r.closing.Load() {
		return errors.New("plugins: start: the runtime was shut down")
	}
	inputs, err := r.read(ctx)
	if err != nil {
		return err
	}
	r.inputs = inputs
	placed := inputs.placements()
	for _, p := range r.compiled {
		r.place(p.ID, placed)
	}
	for id := range placed {
		r.place(id, placed)
	}
	for id := range r.switches {
		if r.nodes[id] == nil {
			return fmt.Errorf("plugins: start: switch of %q: %w", id, ErrUnknownPlugin)
		}
	}
	r.rebuild()
	r.replan(r.graph.Order())
	return nil
}

// begin takes the mutation lock. A caller that gives up while it waits gets the error of its context.
func (r *Runtime) begin(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case r.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.op = &operation{}
	return func() {
		r.op = nil
		<-r.lock
		r.news.deliver()
	}, nil
}

// operation collects what one operation did.
type operation struct{ diagnostics []Diagnostic }

// Environment returns the live picture that generations get.
func (r *Runtime) Environment() Environment { return Environment{r.catalog} }

// Attach publishes the host's catalogs to [Environment]. The catalog must not be changed afterwards.
func (r *Runtime) Attach(c Catalog) { r.catalog.current.Store(&c) }

// Gate returns the gate of a published generation: for hosts that hold a pair of ids across calls.
func (r *Runtime) Gate(id, generation string) (*generations.Gate, bool) {
	return r.gates.Gate(id, generation)
}

func (r *Runtime) read(ctx context.Context) (Inputs, error) {
	if r.options.Inputs == nil {
		return Inputs{}, nil
	}
	in, err := r.options.Inputs(ctx)
	if err != nil {
		return in, fmt.Errorf("plugins: read what the host's files say: %w", err)
	}
	return in, nil
}

// node returns a known plugin.
func (r *Runtime) node(id string) (*node, error) {
	if n := r.nodes[id]; n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownPlugin, id)
}
