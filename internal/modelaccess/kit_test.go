package modelaccess_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
)

const secret = "sk-very-secret"

// lab is a provider: it makes clients and answers their rounds.
type lab struct {
	mu       sync.Mutex
	made     []string // "text large", "images large", in the order of making
	requests []*model.Request
	slow     map[string]chan struct{} // making a client of this model takes until the channel is closed
	broken   map[string]error         // making it fails
	blind    map[string]bool          // the protocol has no image client for it
	answer   func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error)
}

func newLab() *lab {
	return &lab{slow: map[string]chan struct{}{}, broken: map[string]error{}, blind: map[string]bool{}}
}

// labClient is what the lab makes. It holds its key where a careless print would show it.
type labClient struct {
	Request model.ClientRequest
	Key     string
	lab     *lab
}

func (l *lab) CanCreate(protocol string) bool { return protocol == "lab" }

func (l *lab) Create(ctx context.Context, r model.ClientRequest) (model.Client, error) {
	return l.create(ctx, "text", r)
}

func (l *lab) CreateMultimodal(ctx context.Context, r model.ClientRequest) (model.Client, error) {
	l.mu.Lock()
	blind := l.blind[r.Model]
	l.mu.Unlock()
	if blind {
		_, err := l.create(ctx, "no images", r)
		return nil, err
	}
	return l.create(ctx, "images", r)
}

func (l *lab) create(ctx context.Context, kind string, r model.ClientRequest) (model.Client, error) {
	l.mu.Lock()
	l.made = append(l.made, kind+" "+r.Model)
	wait, err := l.slow[r.Model], l.broken[r.Model]
	l.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	return &labClient{Request: r, Key: r.Key, lab: l}, nil
}

func (c *labClient) Round(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	c.lab.mu.Lock()
	c.lab.requests = append(c.lab.requests, r)
	answer := c.lab.answer
	c.lab.mu.Unlock()
	if answer != nil {
		return answer(ctx, r, emit)
	}
	var a model.Assembler
	for _, d := range []model.Delta{{Kind: model.TextDelta, Text: "ok from " + c.Request.Model}, {Kind: model.FinishDelta, Finish: model.FinishStop}} {
		if err := errors.Join(a.Add(d), emit(d)); err != nil {
			return nil, err
		}
	}
	return a.Response()
}

func (l *lab) log() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.made...)
}

func (l *lab) last() *model.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[len(l.requests)-1]
}

// host is a kernel with the lab as its provider, and plugins.
type host struct {
	*kerneltest.Kernel
	lab    *lab
	access *modelaccess.Access

	mu     sync.Mutex
	review *modelaccess.Review
	asked  error // what asking for the review model gives
}

// request is what reaches a model of the lab. One whose name begins with "sees" takes images.
func request(name string) model.ClientRequest {
	temperature := 0.5
	return model.ClientRequest{
		Protocol: "lab", Provider: "acme", Model: name, Key: secret, BaseURL: "https://models.acme.example", Organization: "org",
		Project: "project", Headers: map[string]string{"x-team": "blue"}, ContextWindow: 1000, MaxTokens: 100, Temperature: &temperature,
		ImageInput: strings.HasPrefix(name, "sees"), AudioInput: true,
	}
}

func start(t *testing.T, list ...plugins.Plugin) *host {
	t.Helper()
	return startWith(t, kerneltest.Plugins(list...))
}

func startWith(t *testing.T, more ...fx.Option) *host {
	t.Helper()
	h := &host{lab: newLab()}
	h.Kernel = kerneltest.Start(t,
		contrib.Supply[model.ClientFactory](model.Protocols, h.lab),
		fx.Decorate(func(kernel.Models) kernel.Models {
			return kernel.ModelsFunc(func(_ context.Context, ref string) (model.ClientRequest, error) { return request(ref), nil })
		}),
		fx.Supply(modelaccess.Config{Review: func() (*modelaccess.Review, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.review, h.asked
		}}),
		// Tests keep what a plugin was given, which the last sweep would wait for.
		fx.Supply(plugins.Options{Timeouts: plugins.Timeouts{Collection: time.Millisecond}}),
		modelaccess.Module, fx.Options(more...), fx.Populate(&h.access),
	)
	return h
}

// open opens a thread with a model, as a host does.
func (h *host) open(name string) *kernel.Thread { return h.NewThread(kernel.Options{Model: name}) }

func (h *host) reviewBy(r *modelaccess.Review) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.review = r
}

// given is what a plugin asked for.
type given struct {
	fx.In

	Facts    model.Facts
	Clients  model.Clients
	Lifetime *generations.Lifetime
}

// asker is a plugin that keeps what it asked for.
func asker(all *[]given, more ...fx.Option) plugins.Plugin {
	return plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: fx.Options(append(more, fx.Invoke(func(g given) { *all = append(*all, g) }))...)}
}

func ask(t *testing.T, c model.Client, r *model.Request) (string, error) {
	t.Helper()
	answer, err := c.Round(t.Context(), r, func(model.Delta) error { return nil })
	if err != nil {
		return "", err
	}
	require.NotEmpty(t, answer.Items)
	return answer.Items[0].Text, nil
}
