package modelaccess

import (
	"context"
	"fmt"
	"runtime/pprof"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
)

// Clients makes the clients of one generation, and the note that it can call the models.
func (a *Access) Clients(f plugins.Facts, l *generations.Lifetime) (model.Clients, error) {
	origin, err := contrib.Plugin(f.ID, f.Generation)
	if err != nil {
		return nil, err
	}
	generations.Unlabelled(func() {
		a.kernel.Registry().Record(contrib.Diagnostic{
			Code: string(plugins.PluginModelClients), Severity: contrib.Info, Origin: origin,
			Message: fmt.Sprintf("the plugin %s can call the models of the session, with the operator's credentials", f.ID),
			Params:  map[string]any{"pluginId": f.ID},
		})
	})
	own := &reader{access: a, life: l, sealed: map[use]seal{}}
	return &clients{read: own.read, independent: func() bool {
		r, err := a.review()
		return err == nil && r != nil
	}}, nil
}

// clients is what one generation gets. It holds functions alone, as everything here that plugins get: whatever a plugin does
// to print it shows no key.
type clients struct {
	read        func(context.Context, purpose) (model.Client, error)
	independent func() bool
}

var _ model.Clients = (*clients)(nil)

// Session implements model.Clients.
func (c *clients) Session(ctx context.Context) (model.Client, error) { return c.read(ctx, forText) }

// Images implements model.Clients.
func (c *clients) Images(ctx context.Context) (model.Client, error) { return c.read(ctx, forImages) }

// Review implements model.Clients.
func (c *clients) Review(ctx context.Context) (model.Client, error) { return c.read(ctx, forReview) }

// IndependentReview implements model.Clients.
func (c *clients) IndependentReview() bool { return c.independent() }

// reader reads clients for one generation.
type reader struct {
	access *Access
	life   *generations.Lifetime

	mu     sync.Mutex
	sealed map[use]seal // what was handed out
}

// seal is a client that was handed out, and the slot that it is of.
type seal struct {
	slot   *slot
	client *sealed
}

// read returns a client in a form that is fit for plugins. The interface is nil when there is none.
func (c *reader) read(ctx context.Context, p purpose) (out model.Client, err error) {
	if c.life.Context().Err() != nil {
		return nil, errStopped
	}
	// What a client starts, such as its connections, is the host's and outlives the generation.
	generations.Unlabelled(func() {
		var found model.Client
		var u use
		var s *slot
		if u, s, found, err = c.access.find(ctx, p); err == nil && found != nil {
			out = c.seal(u, s, found)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("modelaccess: no client: %w", err)
	}
	return out, nil
}

var errStopped = fmt.Errorf("modelaccess: the plugin has stopped: %w", generations.ErrStopping)

// seal returns the one proxy of a client. Those of clients that were dropped are forgotten.
func (c *reader) seal(u use, s *slot, client model.Client) *sealed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.sealed[u]; known.slot == s {
		return known.client
	}
	for other, known := range c.sealed {
		if !c.access.current(other, known.slot) {
			delete(c.sealed, other)
		}
	}
	own := &sealed{round: rounds(c.life, s, u.purpose, client)}
	c.sealed[u] = seal{s, own}
	return own
}

// sealed is a client for a plugin.
type sealed struct {
	round func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error)
}

// Round implements model.Client.
func (s *sealed) Round(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	return s.round(ctx, r, emit)
}

// rounds makes the rounds of a sealed client: bound to the life of the generation and to the host's model.
func rounds(l *generations.Lifetime, s *slot, p purpose, client model.Client) model.ClientFunc {
	return func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (out *model.Response, err error) {
		if l.Context().Err() != nil {
			return nil, errStopped
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(l.Context(), func() { cancel(generations.ErrStopping) })()
		own := fitted(r, s, p)
		generations.Unlabelled(func() {
			out, err = client.Round(ctx, own, func(d model.Delta) error {
				// The plugin's code again, with its labels.
				pprof.SetGoroutineLabels(l.Context())
				defer pprof.SetGoroutineLabels(context.Background())
				return emit(d)
			})
		})
		if err != nil && l.Context().Err() != nil {
			return nil, errStopped
		}
		return out, err
	}
}

// fitted is the request as it is sent: to the host's model, with its settings where the plugin has none, and in the name of
// no thread.
func fitted(r *model.Request, s *slot, p purpose) *model.Request {
	own := r.Copy()
	own.Model, own.Thread, own.Turn, own.Agent = s.request.Model, "", "", ""
	own.ReplayReasoning, own.AcceptsImages = s.request.ReplayReasoning, p == forImages
	if own.Purpose == "" {
		own.Purpose = model.Side
	}
	if own.Gear == "" {
		own.Gear = s.gear
	}
	if own.Temperature == nil {
		own.Temperature = s.request.Temperature
	}
	if own.TopP == nil {
		own.TopP = s.request.TopP
	}
	if limit := s.request.MaxTokens; own.MaxTokens <= 0 || limit > 0 && own.MaxTokens > limit {
		own.MaxTokens = limit
	}
	return own
}
