package generations_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echoer is the contract of the points of these tests.
type echoer interface {
	Echo(ctx context.Context, text string) (string, error)
}

type echoFunc func(ctx context.Context, text string) (string, error)

func (f echoFunc) Echo(ctx context.Context, text string) (string, error) { return f(ctx, text) }

// guard stands for a plugin's echoer.
type guard struct{ ref *generations.Ref[echoer] }

func (g guard) Echo(ctx context.Context, text string) (string, error) {
	return generations.Call(ctx, g.ref, func(ctx context.Context, v echoer) (string, error) { return v.Echo(ctx, text) })
}

func define(name string, deadline time.Duration) *contrib.Point[echoer] {
	return contrib.Define(contrib.Spec[echoer]{
		Name: name, Doc: "Echoes.", Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
		Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: deadline,
		Targets: []contrib.Target{{Name: "echo:default", Doc: "The default."}},
		Guard: func(v echoer, _ any, ref contrib.Ref) echoer {
			return guard{generations.Bind(ref, v)}
		},
	})
}

var (
	plain = define("test.plain", 0)
	timed = define("test.timed", time.Second)
)

func registry(t testing.TB) *contrib.Registry {
	t.Helper()
	r, err := contrib.New(plain, timed)
	require.NoError(t, err)
	return r
}

var serial atomic.Int64

// config is an activation of the plugin "acme" whose constructors are build.
func config(r *contrib.Registry, build func(s *generations.Scope) error) generations.Config {
	return generations.Config{
		Plugin: "acme", ID: fmt.Sprintf("g%d", serial.Add(1)), Registry: r,
		Build: func(_ context.Context, s *generations.Scope) (generations.App, error) {
			if build == nil {
				return nil, nil
			}
			return nil, build(s)
		},
	}
}

func activate(t testing.TB, c generations.Config) *generations.Generation {
	t.Helper()
	g, err := generations.Activate(context.Background(), c)
	require.NoError(t, err)
	return g
}

// stop stops g and waits.
func stop(g *generations.Generation) *generations.Teardown {
	t := g.Stop(contrib.StopOperator)
	<-t.Done()
	return t
}

// add stages v.
func add(p *contrib.Point[echoer], v echoFunc, opts ...contrib.Option) func(*generations.Scope) error {
	return func(s *generations.Scope) error {
		_, err := p.Add(s.Registrar, v, opts...)
		return err
	}
}

// one returns the only value of p.
func one(t testing.TB, r *contrib.Registry, p *contrib.Point[echoer]) echoer {
	t.Helper()
	list := p.In(r.View(), "")
	require.Len(t, list, 1)
	return list[0]
}

// app is an App made of functions.
type app struct {
	start, stop func(context.Context) error
}

func (a app) Start(ctx context.Context) error {
	if a.start == nil {
		return nil
	}
	return a.start(ctx)
}

func (a app) Stop(ctx context.Context) error {
	if a.stop == nil {
		return nil
	}
	return a.stop(ctx)
}

// journal collects what happened.
type journal struct {
	mu   sync.Mutex
	list []string
}

func (j *journal) add(format string, a ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, fmt.Sprintf(format, a...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.list...)
}

// closer writes to a journal when it is closed.
type closer struct {
	j    *journal
	name string
	err  error
}

func (c *closer) Close() error {
	c.j.add("%s", c.name)
	return c.err
}

// logFile is a logger and what was written to it.
type logFile struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logFile) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logFile) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
