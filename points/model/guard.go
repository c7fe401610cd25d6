package model

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

func describeMiddleware(m Middleware) (any, error) {
	if name := m.Name(); name != "" {
		return name, nil
	}
	return nil, errors.New("the middleware has a blank name")
}

type middlewareGuard struct {
	name string
	ref  *generations.Ref[Middleware]
}

func guardMiddleware(m Middleware, meta any, ref contrib.Ref) Middleware {
	return &middlewareGuard{name: meta.(string), ref: generations.Bind(ref, m)}
}

func (g *middlewareGuard) Name() string { return g.name }

func (g *middlewareGuard) Wrap(ctx context.Context, next Client, i PipelineInfo) (Client, error) {
	proxy := &nextProxy{next: next}
	wrapped, err := generations.Call(ctx, g.ref, func(ctx context.Context, m Middleware) (Client, error) {
		c, err := m.Wrap(ctx, proxy, i)
		switch {
		case err != nil || c == nil:
			return nil, err
		case c == Client(proxy):
			return proxy, nil
		}
		// The wrapped client stays with the generation: the pipeline holds a reference behind the gate.
		return &wrappedClient{ref: generations.BindBeside(g.ref, c), next: next}, nil
	})
	switch {
	case errors.Is(err, contrib.ErrRevoked), wrapped == Client(proxy):
		return next, nil
	case err != nil:
		return nil, err
	}
	return wrapped, nil
}

// nextProxy is all that a plugin sees of the pipeline behind it.
type nextProxy struct{ next Client }

func (p *nextProxy) Round(ctx context.Context, r *Request, emit func(Delta) error) (*Response, error) {
	return p.next.Round(ctx, r, emit)
}

// wrappedClient is a plugin's client in a pipeline of the host. Its lease spans the whole round, deltas included. When
// its generation is gone it passes through.
type wrappedClient struct {
	ref  *generations.Ref[Client]
	next Client
}

func (c *wrappedClient) Round(ctx context.Context, r *Request, emit func(Delta) error) (*Response, error) {
	if !c.ref.Live() {
		return c.next.Round(ctx, r, emit)
	}
	entered := false
	own := r.Copy()
	out, err := generations.Call(ctx, c.ref, func(ctx context.Context, v Client) (round, error) {
		entered = true
		return contained(v.Round(ctx, own, emit))
	})
	if !entered && errors.Is(err, contrib.ErrRevoked) {
		return c.next.Round(ctx, r, emit)
	}
	return out.answer(err)
}

// Copy returns a copy of r whose items, tools and images a plugin may change without touching the thread. Image bytes are
// shared: they are too large to copy for each middleware and are checked nowhere after this.
func (r *Request) Copy() *Request {
	own := *r
	own.Items = make([]*Item, len(r.Items))
	items := make([]Item, len(r.Items))
	for i, it := range r.Items {
		items[i] = *it
		items[i].Images = slices.Clone(it.Images)
		items[i].Segments = slices.Clone(it.Segments)
		own.Items[i] = &items[i]
	}
	own.Tools = slices.Clone(r.Tools)
	return &own
}

// Copy returns a copy that shares nothing with r; nil for nil.
func (r *Response) Copy() *Response {
	if r == nil {
		return nil
	}
	own := *r
	own.Items = make([]*Item, len(r.Items))
	for i, it := range r.Items {
		item := *it
		item.Images = slices.Clone(it.Images)
		item.Segments = slices.Clone(it.Segments)
		if it.State != nil {
			state := *it.State
			state.Data = slices.Clone(it.State.Data)
			item.State = &state
		}
		own.Items[i] = &item
	}
	if r.Usage != nil {
		usage := *r.Usage
		own.Usage = &usage
	}
	return &own
}

// round is what a plugin's client came to. A failure of the provider, which the host needs whole to know whether to try
// again, crosses the guard as data; the text of any other error goes to the log file alone.
type round struct {
	response *Response
	failure  *Error
}

func contained(out *Response, err error) (round, error) {
	if err == nil {
		return round{response: out.Copy()}, nil
	}
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure == nil {
		return round{}, err
	}
	own := *failure
	own.Err = nil
	return round{failure: &own}, nil
}

func (r round) answer(err error) (*Response, error) {
	switch {
	case err != nil:
		return nil, err
	case r.failure != nil:
		return nil, r.failure
	}
	return r.response, nil
}

// reservedError refuses a factory that claims a protocol of the host.
type reservedError string

func (e reservedError) Error() string {
	return fmt.Sprintf("the protocol %q belongs to the host", string(e))
}

// Params names the protocol in the diagnostic of the refusal.
func (e reservedError) Params() map[string]any { return map[string]any{"protocol": string(e)} }

func reservedProtocol(f ClientFactory) error {
	for _, token := range BuiltinProtocols {
		if f.CanCreate(token) {
			return reservedError(token)
		}
	}
	return nil
}

type factoryGuard struct {
	ref *generations.Ref[ClientFactory]
}

func guardFactory(f ClientFactory, _ any, ref contrib.Ref) ClientFactory {
	return &factoryGuard{ref: generations.Bind(ref, f)}
}

func (g *factoryGuard) CanCreate(protocol string) bool {
	yes, err := generations.Call(context.Background(), g.ref, func(_ context.Context, f ClientFactory) (bool, error) {
		return f.CanCreate(protocol), nil
	})
	return err == nil && yes
}

func (g *factoryGuard) Create(ctx context.Context, r ClientRequest) (Client, error) {
	return g.client(ctx, func(ctx context.Context, f ClientFactory) (Client, error) { return f.Create(ctx, r) })
}

func (g *factoryGuard) CreateMultimodal(ctx context.Context, r ClientRequest) (Client, error) {
	return g.client(ctx, func(ctx context.Context, f ClientFactory) (Client, error) { return f.CreateMultimodal(ctx, r) })
}

func (g *factoryGuard) client(ctx context.Context, create func(context.Context, ClientFactory) (Client, error)) (Client, error) {
	return generations.Call(ctx, g.ref, func(ctx context.Context, f ClientFactory) (Client, error) {
		c, err := create(ctx, f)
		if err != nil || c == nil {
			return nil, err
		}
		return &pluginClient{ref: generations.BindBeside(g.ref, c)}, nil
	})
}

// pluginClient is a client of a plugin's protocol. When its generation is gone the round fails like an unreachable
// provider.
type pluginClient struct {
	ref *generations.Ref[Client]
}

func (c *pluginClient) Round(ctx context.Context, r *Request, emit func(Delta) error) (*Response, error) {
	own := r.Copy()
	out, err := generations.CallWithin(ctx, c.ref, 0, func(ctx context.Context, v Client) (round, error) {
		return contained(v.Round(ctx, own, emit))
	})
	if errors.Is(err, contrib.ErrRevoked) {
		return nil, &Error{
			Code: CodeUnreachable, Kind: KindNetwork, Retryable: false,
			Message: "the plugin that serves this protocol (" + c.ref.Origin().ID() + ") has stopped; enable it or choose another model",
			Err:     contrib.ErrUnavailable,
		}
	}
	return out.answer(err)
}
