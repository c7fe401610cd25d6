package dispatcher_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a registry with every point, the default entries of the dispatcher, and one turn.
type host struct {
	t          testing.TB
	registry   *contrib.Registry
	registrar  *contrib.Registrar
	dispatcher *dispatcher.Dispatcher
	home       string
	log        *journal
	turn       *dispatcher.Turn

	mu    sync.Mutex
	notes []contrib.Diagnostic
	fails []*contrib.CallError
	subs  []dispatcher.Outcome
}

// journal is the host's log file.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func newHost(t testing.TB, change ...func(*dispatcher.Config)) *host {
	t.Helper()
	registry, err := contrib.New(points.Catalog()...)
	require.NoError(t, err)
	t.Cleanup(registry.Close)
	h := &host{t: t, registry: registry, registrar: registry.Builtin(), home: t.TempDir(), log: &journal{}}
	c := dispatcher.Config{Logger: slog.New(slog.NewTextHandler(h.log, nil)), Home: h.home}
	for _, f := range change {
		f(&c)
	}
	app := fx.New(fx.NopLogger, fx.Supply(c, registry, h.registrar), dispatcher.Module, fx.Populate(&h.dispatcher))
	require.NoError(t, app.Err())
	h.turn = &dispatcher.Turn{
		Thread: "t1", Turn: "turn1", Workspace: "/work", Mode: "work", Approval: func() string { return "full" },
		Report: func(_ *contrib.EntryInfo, c *contrib.CallError) { h.keep(func() { h.fails = append(h.fails, c) }) },
		Note:   func(d contrib.Diagnostic) { h.keep(func() { h.notes = append(h.notes, d) }) },
		Result: func(o dispatcher.Outcome) { h.keep(func() { h.subs = append(h.subs, o) }) },
	}
	// Without approvers nothing above Read may run, which is a case of its own.
	add(h, dispatch.Approvers, dispatch.ApproverFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
		return dispatch.Verdict{Allow: true, By: "auto"}, nil
	}), contrib.Named(dispatch.DefaultApproval), contrib.Order(100))
	return h
}

func (h *host) keep(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// add contributes a value as the host itself.
func add[T any](h *host, p *contrib.Point[T], v T, opts ...contrib.Option) *contrib.Handle {
	h.t.Helper()
	handle, err := p.Add(h.registrar, v, opts...)
	require.NoError(h.t, err)
	return handle
}

// plugin activates a plugin.
func (h *host) plugin(id string, build func(r *contrib.Registrar) error) *generations.Generation {
	h.t.Helper()
	g, err := generations.Activate(context.Background(), generations.Config{
		Plugin: id, ID: "g1", Registry: h.registry, Logger: slog.New(slog.NewTextHandler(h.log, nil)),
		Build: func(_ context.Context, s *generations.Scope) (generations.App, error) { return nil, build(s.Registrar) },
	})
	require.NoError(h.t, err)
	h.t.Cleanup(func() { <-g.Stop(contrib.StopShutdown).Done() })
	return g
}

// with is the builder of a plugin that contributes one value.
func with[T any](p *contrib.Point[T], v T, opts ...contrib.Option) func(*contrib.Registrar) error {
	return func(r *contrib.Registrar) error {
		_, err := p.Add(r, v, opts...)
		return err
	}
}

// tools offers registrations as the host's own and plans the turn.
func (h *host) tools(list ...tool.Registration) {
	h.t.Helper()
	add[tool.Source](h, tool.Sources, tool.Fixed(tool.SourceBuiltin, list...))
	h.plan()
}

// pluginTools offers registrations as a plugin's and plans the turn.
func (h *host) pluginTools(id string, list ...tool.Registration) *generations.Generation {
	h.t.Helper()
	g := h.plugin(id, with[tool.Source](tool.Sources, tool.Fixed(id, list...)))
	h.plan()
	return g
}

// moduleTools offers registrations as a module's and plans the turn.
func (h *host) moduleTools(name string, list ...tool.Registration) {
	h.t.Helper()
	r, err := h.registrar.Module(name)
	require.NoError(h.t, err)
	_, err = tool.Sources.Add(r, tool.Fixed(name, list...))
	require.NoError(h.t, err)
	h.plan()
}

func (h *host) plan() {
	h.t.Helper()
	v := h.registry.View()
	s, notes, err := toolset.Plan(context.Background(), toolset.Inputs{
		Sources: tool.Sources.Entries(v, "t1"), Restrictions: tool.Restrictions.Entries(v, "t1"),
		Planning: tool.Planning{Thread: "t1", Turn: "turn1", Catalog: tool.CatalogWork, Revision: tool.Sources.Revision(v)},
	})
	require.NoError(h.t, err)
	require.Empty(h.t, notes)
	h.turn.Snapshot = s
}

// call dispatches a call of the model.
func (h *host) call(name, arguments string) dispatcher.Outcome {
	h.t.Helper()
	return h.callIn(context.Background(), name, arguments)
}

func (h *host) callIn(ctx context.Context, name, arguments string) dispatcher.Outcome {
	h.t.Helper()
	return h.dispatcher.Dispatch(ctx, h.turn, dispatcher.Request{
		ID: "c1", Name: name, Arguments: arguments, Audience: tool.AudienceModel,
	})
}

// registration makes a tool that looks only.
func registration(name string, run func(ctx context.Context, i tool.Invocation) (tool.Result, error), change ...func(*tool.Registration)) tool.Registration {
	r := tool.Registration{
		Definition: tool.Definition{
			ID: name, Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(`{"type":"object"}`),
			Catalogs: tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(run)},
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

// says makes a tool that answers with a text.
func says(name, text string, change ...func(*tool.Registration)) tool.Registration {
	return registration(name, func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Text(text), nil }, change...)
}

// echo answers with its arguments.
func echo(name string, change ...func(*tool.Registration)) tool.Registration {
	return registration(name, func(_ context.Context, i tool.Invocation) (tool.Result, error) {
		return tool.Text(string(i.Arguments)), nil
	}, change...)
}

func schemaOf(raw string) func(*tool.Registration) {
	return func(r *tool.Registration) { r.Definition.InputSchema = json.RawMessage(raw) }
}

func hints(k *tool.Hints) func(*tool.Registration) {
	return func(r *tool.Registration) { r.Definition.Hints = k }
}

// records writes down what a recorder sees.
type records struct {
	mu     sync.Mutex
	starts []dispatch.Call
	ends   []tool.Result
	took   []time.Duration
	fail   func() error
}

func (r *records) Started(_ context.Context, c dispatch.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starts = append(r.starts, c)
	if r.fail != nil {
		return r.fail()
	}
	return nil
}

func (r *records) Ended(_ context.Context, _ dispatch.Call, res tool.Result, d time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends, r.took = append(r.ends, res), append(r.took, d)
	if r.fail != nil {
		return r.fail()
	}
	return nil
}

func policy(f func(dispatch.Call) (dispatch.Verdict, error)) dispatch.Policy {
	return dispatch.PolicyFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) { return f(c) })
}

func rewriting(f func(hook.Call) (*hook.Call, error)) hook.ToolCall {
	return hook.ToolCallFunc(func(_ context.Context, c hook.Call) (*hook.Call, error) { return f(c) })
}

func code(o dispatcher.Outcome) string {
	if o.Result.Error == nil {
		return ""
	}
	return o.Result.Error.Code
}
