package toolset_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a registry with the points of tools.
type host struct {
	t        testing.TB
	registry *contrib.Registry
}

func newHost(t testing.TB) *host {
	t.Helper()
	r, err := contrib.New(tool.Sources, tool.Restrictions, tool.Classifiers)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return &host{t, r}
}

// plugin activates a plugin that contributes to the points of tools.
func (h *host) plugin(id string, add func(r *contrib.Registrar) error) *generations.Generation {
	h.t.Helper()
	g, err := generations.Activate(context.Background(), generations.Config{
		Plugin: id, ID: "g1", Registry: h.registry,
		Build: func(_ context.Context, s *generations.Scope) (generations.App, error) { return nil, add(s.Registrar) },
	})
	require.NoError(h.t, err)
	h.t.Cleanup(func() { <-g.Stop(contrib.StopShutdown).Done() })
	return g
}

// offers contributes a source of registrations.
func offers(id string, list ...tool.Registration) func(*contrib.Registrar) error {
	return func(r *contrib.Registrar) error {
		_, err := tool.Sources.Add(r, source(id, list...))
		return err
	}
}

func source(id string, list ...tool.Registration) tool.Source {
	return tool.SourceFunc(id, func(context.Context, tool.Planning) ([]tool.Registration, error) { return list, nil })
}

func (h *host) builtin(list ...tool.Registration) {
	h.t.Helper()
	_, err := tool.Sources.Add(h.registry.Builtin(), source(tool.SourceBuiltin, list...), contrib.Named(tool.SourceBuiltin), contrib.Order(100))
	require.NoError(h.t, err)
}

func (h *host) module(name string, list ...tool.Registration) {
	h.t.Helper()
	r, err := h.registry.Builtin().Module(name)
	require.NoError(h.t, err)
	require.NoError(h.t, offers(name, list...)(r))
}

func (h *host) restrict(f func(context.Context, tool.Definition, tool.Exposure, tool.Planning) (*tool.Edit, error)) {
	h.t.Helper()
	_, err := tool.Restrictions.Add(h.registry.Builtin(), tool.RestrictionFunc(f))
	require.NoError(h.t, err)
}

func (h *host) inputs() toolset.Inputs {
	v := h.registry.View()
	return toolset.Inputs{
		Sources: tool.Sources.Entries(v, ""), Restrictions: tool.Restrictions.Entries(v, ""),
		Planning: tool.Planning{Thread: "t1", Catalog: tool.CatalogWork, Revision: tool.Sources.Revision(v)},
	}
}

func (h *host) plan() (*toolset.Snapshot, []contrib.Diagnostic) {
	h.t.Helper()
	s, notes, err := toolset.Plan(context.Background(), h.inputs())
	require.NoError(h.t, err)
	return s, notes
}

// named makes a registration whose tool answers with its own description.
func named(name string, change ...func(*tool.Registration)) tool.Registration {
	r := tool.Registration{
		Definition: tool.Definition{
			ID: name, Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(`{"type":"object"}`),
			Catalogs: tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
		},
	}
	r.Binding.Runtime = tool.RuntimeFunc(func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Text(r.Definition.Description), nil
	})
	for _, f := range change {
		f(&r)
	}
	return r
}

func spaced(namespace, name string) tool.Registration {
	return named(name, func(r *tool.Registration) {
		id := namespace + "/" + name
		r.Definition.Namespace, r.Definition.ID = namespace, id[max(0, len(id)-128):]
	})
}

// codes lists the codes of diagnostics with one of their parameters.
func codes(notes []contrib.Diagnostic, param string) []string {
	out := []string{}
	for _, d := range notes {
		text, _ := d.Params[param].(string)
		out = append(out, d.Code+" "+text)
	}
	return out
}

func listed(s *toolset.Snapshot) []string {
	out := []string{}
	for _, m := range s.Models() {
		out = append(out, m.Name)
	}
	return out
}
