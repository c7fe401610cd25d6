package plugins_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Greeter is the contract of the point that these tests contribute to.
type Greeter interface {
	Greet(ctx context.Context) (string, error)
}

// greeterFunc adapts a function.
type greeterFunc func(ctx context.Context) (string, error)

func (f greeterFunc) Greet(ctx context.Context) (string, error) { return f(ctx) }

type guardedGreeter struct{ ref *generations.Ref[Greeter] }

func (g guardedGreeter) Greet(ctx context.Context) (string, error) {
	return generations.Call(ctx, g.ref, func(ctx context.Context, v Greeter) (string, error) { return v.Greet(ctx) })
}

var greeters = contrib.Define(contrib.Spec[Greeter]{
	Name: "test.greeter", Doc: "Greets.", Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip,
	Guard: func(v Greeter, _ any, ref contrib.Ref) Greeter { return guardedGreeter{generations.Bind(ref, v)} },
})

var errGuardLost = errors.New("guard lost")

// policies has a guarding target.
var policies = contrib.Define(contrib.Spec[Greeter]{
	Name: "test.policy", Doc: "Decides.", Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Deny,
	Targets: []contrib.Target{{Name: "policy:default", Guarding: true, Doc: "The default."}},
	Guard:   func(v Greeter, _ any, ref contrib.Ref) Greeter { return guardedGreeter{generations.Bind(ref, v)} },
	StandIn: func(contrib.Hold) Greeter {
		return greeterFunc(func(context.Context) (string, error) { return "", errGuardLost })
	},
})

func newRegistry(t testing.TB) *contrib.Registry {
	t.Helper()
	registry, err := contrib.New(greeters, policies)
	require.NoError(t, err)
	return registry
}

// host is a runtime with its registry.
type host struct {
	*plugins.Runtime
	registry *contrib.Registry
}

func start(t testing.TB, o plugins.Options, list ...plugins.Plugin) *host {
	t.Helper()
	h := prepare(t, o, list...)
	require.NoError(t, h.Start(t.Context()))
	return h
}

func prepare(t testing.TB, o plugins.Options, list ...plugins.Plugin) *host {
	t.Helper()
	registry := newRegistry(t)
	r, err := plugins.New(registry, o, list...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Shutdown(context.Background())) })
	return &host{r, registry}
}

func (h *host) status(t testing.TB, id string) plugins.Status {
	t.Helper()
	s, ok := h.Snapshot().Find(id)
	require.True(t, ok, id)
	return s
}

func (h *host) greeters() []Greeter { return greeters.In(h.registry.View(), "") }

func (h *host) enable(t testing.TB, id string, on bool) plugins.Result {
	t.Helper()
	result, err := h.SetEnabled(t.Context(), id, on, plugins.ScopeProcess)
	require.NoError(t, err)
	return result
}

// reached waits until the snapshot satisfies cond.
func (h *host) reached(t testing.TB, cond func(*plugins.Snapshot) bool) {
	t.Helper()
	news := make(chan struct{}, 1)
	cancel := h.Subscribe(t.Name(), func(plugins.Event) {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	defer cancel()
	for !cond(h.Snapshot()) {
		<-news
	}
}

func (h *host) inState(t testing.TB, id string, want plugins.State) plugins.Status {
	t.Helper()
	h.reached(t, func(s *plugins.Snapshot) bool {
		p, ok := s.Find(id)
		return ok && p.State == want
	})
	return h.status(t, id)
}

// greet contributes a greeter that answers with the generation's id.
func greet() fx.Option {
	return contrib.Provide(greeters, func(f plugins.Facts) Greeter {
		return greeterFunc(func(context.Context) (string, error) { return f.Generation, nil })
	})
}

// journal collects what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) write(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

func codes(blockers []plugins.Blocker) []plugins.Code {
	var out []plugins.Code
	for _, b := range blockers {
		out = append(out, b.Code)
	}
	return out
}

// collect has everything collected that can be, clean-ups included.
func collect() {
	for range 3 {
		runtime.GC()
	}
}
