package toolset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

// FIELD-D7, FIELD-E1, FIELD-E3, HOST-18: a bad registration costs itself alone.
func TestAdmissionOfRegistrations(t *testing.T) {
	edit := func(f func(*tool.Registration)) tool.Registration { return named("probe", f) }
	cases := []struct {
		name   string
		given  tool.Registration
		reason string
	}{
		{"no runtime", edit(func(r *tool.Registration) { r.Binding.Runtime = nil }), "nil"},
		{"blank id", edit(func(r *tool.Registration) { r.Definition.ID = " " }), "id"},
		{"long id", edit(func(r *tool.Registration) { r.Definition.ID = strings.Repeat("x", 129) }), "id"},
		{"control character", edit(func(r *tool.Registration) { r.Definition.ID = "a\nb" }), "id"},
		{"slash", edit(func(r *tool.Registration) { r.Definition.Name = "fs.read/file" }), "name"},
		{"script", edit(func(r *tool.Registration) { r.Definition.Name = "読む" }), "name"},
		{"digit", edit(func(r *tool.Registration) { r.Definition.Name = "9lives" }), "name"},
		{"65 letters", edit(func(r *tool.Registration) { r.Definition.Name = strings.Repeat("a", 65) }), "name"},
		{"namespace", edit(func(r *tool.Registration) { r.Definition.Namespace = "a.b" }), "namespace"},
		{"flat name", edit(func(r *tool.Registration) { r.Definition.FlatName = "a-b" }), "name"},
		{"blank description", edit(func(r *tool.Registration) { r.Definition.Description = "\n" }), "description"},
		{"long description", edit(func(r *tool.Registration) { r.Definition.Description = strings.Repeat("x", 16<<10+1) }), "description"},
		{"long namespace text", edit(func(r *tool.Registration) { r.Definition.NamespaceDescription = strings.Repeat("x", 4<<10+1) }), "description"},
		{"annotations", edit(func(r *tool.Registration) { r.Definition.Annotations = json.RawMessage(`{`) }), "description"},
		{"no catalog", edit(func(r *tool.Registration) { r.Definition.Catalogs = 0 }), "catalogs"},
		{"deferred without data", edit(func(r *tool.Registration) { r.Definition.Exposure = tool.DeferredTool }), "exposure"},
		{"deferred elsewhere", edit(func(r *tool.Registration) {
			r.Definition.Exposure, r.Definition.Deferred = tool.DeferredTool, &tool.Deferred{Namespace: "other"}
		}), "exposure"},
		{"unknown exposure", edit(func(r *tool.Registration) { r.Definition.Exposure = "wide" }), "exposure"},
		{"no schema", edit(func(r *tool.Registration) { r.Definition.InputSchema = nil }), "schema"},
		{"array of types", edit(func(r *tool.Registration) { r.Definition.InputSchema = json.RawMessage(`{"type":["object","null"]}`) }), "schema"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			h.module("m", c.given, named("good"))
			s, notes := h.plan()
			assert.Equal(t, []string{"good"}, listed(s))
			assert.Equal(t, []string{"tool.invalid_definition " + c.reason}, codes(notes, "reasonCode"))
			assert.NotContains(t, fmt.Sprint(notes[0].Params), "\n")
		})
	}
	h := newHost(t)
	h.plugin("acme.p", offers("s", named("bad", func(r *tool.Registration) { r.Definition.Name = "9\x07" }), named("good"), named("good"),
		named("wide", func(r *tool.Registration) {
			r.Definition.InputSchema = json.RawMessage(`{"anyOf":[{"type":"object"}]}`)
		})))
	s, notes := h.plan()
	assert.Equal(t, []string{"good", "wide"}, listed(s))
	assert.JSONEq(t, `{"type":"object","anyOf":[{"type":"object"}]}`, string(s.Models()[1].Schema))
	require.Len(t, notes, 2)
	assert.Equal(t, contrib.Warning, notes[0].Severity)
	assert.Equal(t, "PluginToolContributionInvalid", notes[0].Code)
	assert.Equal(t, map[string]any{
		"toolId": "bad", "sourceId": "s", "reasonCode": "name", "detail": `the name 9\a does not match ^[A-Za-z][A-Za-z0-9_-]{0,63}$`,
	}, notes[0].Params)
	assert.Equal(t, "duplicateId", notes[1].Params["reasonCode"])
}

// FIELD-E4: a bad output schema costs nothing but itself. One without a type is read as an object.
func TestOutputSchemas(t *testing.T) {
	with := func(name, schema string) tool.Registration {
		return named(name, func(r *tool.Registration) { r.Definition.OutputSchema = json.RawMessage(schema) })
	}
	h := newHost(t)
	h.module("m", with("a", `true`), with("b", `{"type":"objekt"}`), with("c", `{"$id":"x"}`))
	s, notes := h.plan()
	assert.Equal(t, []string{"a", "b", "c"}, listed(s))
	assert.Equal(t, []string{"tool.output_schema_ignored a", "tool.output_schema_ignored b"}, codes(notes, "toolId"))
	assert.Nil(t, s.Tools()[0].Output)
	assert.NotNil(t, s.Tools()[2].Output)
}

func TestFailingSources(t *testing.T) {
	broken := func(err error) func(r *contrib.Registrar) error {
		return func(r *contrib.Registrar) error {
			_, err := tool.Sources.Add(r, tool.SourceFunc("broken", func(context.Context, tool.Planning) ([]tool.Registration, error) {
				if err == nil {
					panic("secret")
				}
				return []tool.Registration{named("half")}, err
			}))
			return err
		}
	}
	h := newHost(t)
	h.plugin("acme.a", broken(errors.New("secret")))
	h.plugin("acme.b", broken(nil))
	h.module("m", named("good"))
	in := h.inputs()
	var causes []contrib.Cause
	in.Report = func(_ *contrib.EntryInfo, c *contrib.CallError) { causes = append(causes, c.Cause) }
	s, notes, err := toolset.Plan(context.Background(), in)
	require.NoError(t, err)
	assert.Equal(t, []string{"good"}, listed(s))
	assert.Equal(t, []string{"PluginToolContributionInvalid sourceFailed", "PluginToolContributionInvalid sourceFailed"}, codes(notes, "reasonCode"))
	assert.Equal(t, []contrib.Cause{contrib.CauseError, contrib.CausePanic}, causes)
	assert.NotContains(t, fmt.Sprint(notes), "secret")

	require.NoError(t, broken(errors.New("no disk"))(h.registry.Builtin()))
	_, _, err = toolset.Plan(context.Background(), h.inputs())
	require.ErrorContains(t, err, "no disk", "a built-in source that fails fails the pass")
}

func TestASourceGivesAtMost512Tools(t *testing.T) {
	list := make([]tool.Registration, 600)
	for i := range list {
		list[i] = named(fmt.Sprintf("t%d", i))
	}
	h := newHost(t)
	h.plugin("acme.a", offers("s", list...))
	s, notes := h.plan()
	assert.Len(t, s.Tools(), 512)
	assert.Equal(t, []string{"PluginToolContributionInvalid tooMany"}, codes(notes, "detail"))
}

// TOOL-6: what of a plugin's tool is the host's.
func TestPluginToolInASnapshot(t *testing.T) {
	h := newHost(t)
	h.plugin("acme.a", offers("s", named("t", func(r *tool.Registration) {
		r.Definition.Key = tool.Key{Kind: tool.OwnerBuiltin, Owner: "x", ID: "y"}
		r.Definition.PolicyScope, r.Definition.FlatName, r.Definition.Authority = tool.ScopeRuntime, "taken", "mine"
		r.Binding.Timeout, r.Binding.ID, r.Binding.Inline = tool.Unlimited, "mine", true
		r.Binding.Classify = func(context.Context, tool.Call, string) tool.Classification {
			return tool.Classification{Risk: tool.Read, Authority: tool.Workspace}
		}
	})))
	in := h.inputs()
	in.Planning.Revision = 7
	s, notes, err := toolset.Plan(context.Background(), in)
	require.NoError(t, err)
	require.Empty(t, notes)
	p, _ := s.ByCanonical("t")
	require.NotNil(t, p)
	assert.Equal(t, "plugin:acme.a:t", p.Definition.Key.String())
	assert.Equal(t, tool.ScopeProfile, p.Definition.PolicyScope)
	assert.Equal(t, "plugins:acme.a:g1", p.Definition.Authority)
	assert.Equal(t, "plugins:acme.a:g1:t:7", p.Binding.ID)
	assert.Equal(t, "t", p.Flat)
	assert.Equal(t, toolset.DefaultTimeout, p.Binding.Timeout)
	assert.Nil(t, p.Binding.Classify)
	assert.False(t, p.Binding.Inline, "nobody vouches for a plugin's tool")
}

// TOOL-6: a snapshot keeps no object of a plugin alive.
func TestSnapshotKeepsNoPluginObject(t *testing.T) {
	h := newHost(t)
	type state struct{ big [1 << 16]byte }
	var seen weak.Pointer[state]
	g := h.plugin("acme.a", func(r *contrib.Registrar) error {
		own := &state{}
		seen = weak.Make(own)
		reg := named("t")
		reg.Binding.Runtime = tool.RuntimeFunc(func(context.Context, tool.Invocation) (tool.Result, error) {
			own.big[0]++
			return tool.Text("x"), nil
		})
		return offers("s", reg)(r)
	})
	s, _ := h.plan()
	p, _ := s.ByCanonical("t")
	_, err := p.Binding.Runtime.Invoke(context.Background(), tool.Invocation{})
	require.NoError(t, err)
	<-g.Stop(contrib.StopOperator).Done()
	for range 100 {
		if runtime.GC(); seen.Value() == nil {
			break
		}
	}
	assert.Nil(t, seen.Value())
	assert.ErrorIs(t, p.Binding.Lease.Check(context.Background()), contrib.ErrUnavailable)
	_, err = p.Binding.Runtime.Invoke(context.Background(), tool.Invocation{})
	assert.ErrorIs(t, err, contrib.ErrRevoked)
	runtime.KeepAlive(s)
}

// The host speaks for the tools of external tool sets: their runner has a limit and a classification of its own.
func TestToolOfAnExternalSetInASnapshot(t *testing.T) {
	h := newHost(t)
	set := named("t", func(r *tool.Registration) {
		r.Definition.Key = tool.Key{Kind: tool.OwnerExternal, Owner: "home/acme"}
		r.Definition.FlatName = "taken"
		r.Binding.Timeout, r.Binding.Inline = tool.Unlimited, true
		r.Binding.Classify = func(context.Context, tool.Call, string) tool.Classification {
			return tool.Classification{Risk: tool.Write, Authority: tool.Workspace}
		}
	})
	h.builtin(set)
	h.plugin("acme.a", offers("s", named("u", func(r *tool.Registration) { r.Definition.Key = set.Definition.Key })))
	s, notes := h.plan()
	require.Empty(t, notes)
	e, _ := s.ByCanonical("t")
	require.NotNil(t, e)
	assert.Equal(t, "external:home/acme:t", e.Definition.Key.String())
	assert.Equal(t, "t", e.Flat)
	assert.Equal(t, tool.Unlimited, e.Binding.Timeout)
	assert.NotNil(t, e.Binding.Classify)
	assert.False(t, e.Binding.Inline)
	u, _ := s.ByCanonical("u")
	require.NotNil(t, u)
	assert.Equal(t, "plugin:acme.a:u", u.Definition.Key.String(), "nobody else speaks for a set")
}
