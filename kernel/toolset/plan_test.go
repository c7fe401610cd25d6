package toolset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

// TOOL-10, FIELD-D1, FIELD-D2, FIELD-D10: one name, several owners.
func TestOneNameSeveralOwners(t *testing.T) {
	h := newHost(t)
	h.plugin("acme.a", offers("a", named("read"), named("find")))
	h.plugin("acme.b", offers("b", named("read"), named("find"), named("fetch"), named("Read")))
	h.builtin(named("read"))
	s, notes := h.plan()
	assert.Equal(t, []string{"fetch", "find", "read"}, listed(s))
	owners := map[string]string{}
	for _, p := range s.Tools() {
		owners[p.Canonical] = p.Definition.Key.String()
	}
	assert.Equal(t, map[string]string{
		"read": "builtin:tools:builtin:read", "find": "plugin:acme.a:find", "fetch": "plugin:acme.b:fetch",
	}, owners)
	got := []map[string]any{}
	for _, d := range notes {
		assert.Equal(t, tool.CodeDuplicateName, d.Code)
		got = append(got, d.Params)
	}
	assert.Equal(t, []map[string]any{
		{"name": "read", "owner": "plugin:acme.a", "keptBy": "builtin:tools:builtin"},
		{"name": "read", "owner": "plugin:acme.b", "keptBy": "builtin:tools:builtin"},
		{"name": "find", "owner": "plugin:acme.b", "keptBy": "plugin:acme.a"},
		{"name": "Read", "owner": "plugin:acme.b", "keptBy": "builtin:tools:builtin"},
	}, got)
	found, exact := s.ByFlat("Find")
	require.NotNil(t, found)
	assert.False(t, exact)
	assert.Equal(t, "find", found.Flat)
}

// FIELD-D10: two tools that differ in case only are both offered and neither is taken.
func TestCaseIsFoldedOnlyWhenThatIsUnique(t *testing.T) {
	h := newHost(t)
	h.module("m", named("Read2"), named("read2"))
	s, _ := h.plan()
	found, _ := s.ByFlat("READ2")
	assert.Nil(t, found)
	assert.Equal(t, []string{"Read2", "read2"}, s.Nearest("READ2", tool.AudienceModel, 20))
	found, exact := s.ByCanonical("read2")
	require.NotNil(t, found)
	assert.True(t, exact)
}

func TestReservedNamesBelongToBuiltinsInEveryCatalog(t *testing.T) {
	h := newHost(t)
	h.plugin("acme.a", offers("a", named("Bash"), named("write")))
	h.builtin(named("write", func(r *tool.Registration) { r.Definition.Catalogs = tool.CatalogPlan }))
	in := h.inputs()
	in.Reserved = []string{"bash"}
	s, notes, err := toolset.Plan(context.Background(), in)
	require.NoError(t, err)
	assert.Empty(t, s.Tools())
	assert.Equal(t, []string{"tool.duplicate_name builtin", "tool.duplicate_name builtin:tools:builtin"}, codes(notes, "keptBy"))
}

// FIELD-D7, FIELD-E1, FIELD-E3: a bad registration costs itself alone.
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
		r.Binding.Timeout, r.Binding.ID = tool.Unlimited, "mine"
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
	assert.Eventually(t, func() bool { runtime.GC(); return seen.Value() == nil }, 5*time.Second, time.Millisecond)
	assert.ErrorIs(t, p.Binding.Lease.Check(context.Background()), contrib.ErrUnavailable)
	_, err = p.Binding.Runtime.Invoke(context.Background(), tool.Invocation{})
	assert.ErrorIs(t, err, contrib.ErrRevoked)
	runtime.KeepAlive(s)
}

// TOOL-4: a masked tool is gone, and its name stays taken.
func TestMaskedTool(t *testing.T) {
	h := newHost(t)
	h.module("a", named("t"), named("u"))
	h.module("b", named("t", func(r *tool.Registration) { r.Definition.ID = "other" }))
	asked := 0
	h.restrict(func(_ context.Context, d tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
		return &tool.Edit{Mask: d.Name == "t"}, nil
	})
	h.restrict(func(_ context.Context, d tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
		asked++
		assert.NotEqual(t, "t", d.Name, "after a mask the remaining entries are not asked")
		return nil, nil
	})
	s, _ := h.plan()
	assert.Equal(t, []string{"u"}, listed(s))
	assert.Equal(t, 1, asked)
	found, _ := s.ByCanonical("t")
	assert.Nil(t, found)
}

// TOOL-5: restrictions as a whole.
func TestRestrictionsThatLeaveNothingCountForNothing(t *testing.T) {
	h := newHost(t)
	h.builtin(named("keep", func(r *tool.Registration) { r.Definition.PolicyScope = tool.ScopeRuntime }))
	h.module("m", named("a"), named("b", func(r *tool.Registration) { r.Definition.PolicyScope = tool.ScopeRuntime }))
	h.restrict(func(_ context.Context, d tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
		assert.NotEqual(t, "keep", d.Name)
		return &tool.Edit{Mask: true}, nil
	})
	s, notes := h.plan()
	assert.Equal(t, []string{"a", "b", "keep"}, listed(s), "only built-in tools are out of reach")
	require.Len(t, notes, 1)
	assert.Equal(t, tool.CodeRestrictionsDiscarded, notes[0].Code)
	assert.Equal(t, []string{"a", "b"}, notes[0].Params["tools"])
}

// TOOL-5: edits chain, narrow and are ignored where they must not count.
func TestEdits(t *testing.T) {
	h := newHost(t)
	h.module("m", named("a"), named("h", func(r *tool.Registration) { r.Definition.Exposure = tool.Hidden }))
	text := func(s string) *string { return &s }
	h.restrict(func(_ context.Context, d tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
		d.InputSchema[0] = 'X'
		return &tool.Edit{Description: text("one"), Exposure: tool.DirectModelOnly}, nil
	})
	h.restrict(func(context.Context, tool.Definition, tool.Exposure, tool.Planning) (*tool.Edit, error) { panic("x") })
	h.restrict(func(_ context.Context, d tool.Definition, e tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
		assert.Equal(t, d.Exposure, e)
		return &tool.Edit{
			Description: text(d.Description + " two"), Exposure: tool.Direct, InputSchema: json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`),
		}, nil
	})
	h.restrict(func(context.Context, tool.Definition, tool.Exposure, tool.Planning) (*tool.Edit, error) {
		return &tool.Edit{Description: text(" "), Exposure: tool.DeferredTool, InputSchema: json.RawMessage(`{"type":"string"}`)}, nil
	})
	in := h.inputs()
	failures := 0
	in.Report = func(*contrib.EntryInfo, *contrib.CallError) { failures++ }
	s, _, err := toolset.Plan(context.Background(), in)
	require.NoError(t, err)
	assert.Equal(t, 2, failures)
	p, _ := s.ByCanonical("a")
	assert.Equal(t, "one two", p.Definition.Description)
	assert.Equal(t, tool.DirectModelOnly, p.Definition.Exposure)
	assert.JSONEq(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`, string(p.Definition.InputSchema))
	_, _, fault := p.Input.Check(`{"n":"x"}`)
	assert.NotNil(t, fault)
	hidden, _ := s.ByCanonical("h")
	assert.Equal(t, tool.Hidden, hidden.Definition.Exposure, "an exposure never widens")
}

// FIELD-E8, TOOL-5: the same inputs give the same bytes.
func TestTheSameToolsGiveTheSameBytes(t *testing.T) {
	build := func() string {
		h := newHost(t)
		for _, id := range []string{"acme.c", "acme.a", "acme.b"} {
			list := make([]tool.Registration, 4)
			for i := range list {
				list[i] = spaced(strings.ReplaceAll(id, ".", "_"), fmt.Sprintf("t%d", i))
				list[i].Definition.InputSchema = json.RawMessage(`{"properties":{"z":{"type":"string"},"a":{"minimum":1.50},"m":{}},"required":["z"]}`)
			}
			h.plugin(id, offers("s", list...))
		}
		var out string
		for range 2 {
			s, _ := h.plan()
			text, err := json.Marshal(s.Models())
			require.NoError(t, err)
			require.True(t, out == "" || out == string(text))
			out = string(text)
		}
		return out
	}
	assert.Equal(t, build(), build())
}

func TestModelsAreSortedAndBuiltOnce(t *testing.T) {
	h := newHost(t)
	h.module("m", spaced("b", "a"), spaced("a", "z"), named("zz"), named("Z"),
		named("gone", func(r *tool.Registration) { r.Binding.Unavailable = true }),
		named("apps", func(r *tool.Registration) { r.Definition.Audiences = tool.AudienceApp }))
	s, _ := h.plan()
	assert.Equal(t, []string{"Z", "zz", "a__z", "b__a"}, listed(s))
	assert.Len(t, s.Tools(), 6)
	assert.Equal(t, &s.Models()[0], &s.Models()[0])
	gone, _ := s.ByFlat("gone")
	assert.NotNil(t, gone, "unavailable tools can be resolved")
}

func TestNamespaceDescriptions(t *testing.T) {
	with := func(name, text string) tool.Registration {
		r := spaced("web", name)
		r.Definition.NamespaceDescription = text
		return r
	}
	h := newHost(t)
	h.module("a", with("get", "One."))
	h.module("b", with("post", "Two."), with("put", ""))
	s, notes := h.plan()
	for _, p := range s.Tools() {
		assert.Equal(t, "Tools of the namespace web.", p.Definition.NamespaceDescription)
	}
	require.Len(t, notes, 1)
	assert.Equal(t, tool.CodeNamespaceDescriptionConflict, notes[0].Code)
	assert.Equal(t, map[string]any{"namespace": "web", "owners": []string{"module:a", "module:b"}}, notes[0].Params)
}

func TestSearchIsAddedWhenThereIsSomethingToFind(t *testing.T) {
	h := newHost(t)
	deferred := named("rare", func(r *tool.Registration) {
		r.Definition.Exposure, r.Definition.Deferred = tool.DeferredTool, &tool.Deferred{SearchText: "rare things"}
	})
	in := h.inputs()
	in.Search = func(found []*toolset.Tool) (tool.Registration, bool) {
		assert.Len(t, found, 1)
		return named("tool_search"), true
	}
	s, _, err := toolset.Plan(context.Background(), in)
	require.NoError(t, err)
	assert.Empty(t, s.Tools())
	h.module("m", deferred)
	search := in.Search
	in = h.inputs()
	in.Search = search
	s, _, err = toolset.Plan(context.Background(), in)
	require.NoError(t, err)
	assert.Equal(t, []string{"tool_search"}, listed(s))
	found, _ := s.ByFlat("tool_search")
	assert.Equal(t, tool.OwnerBuiltin, found.Definition.Key.Kind)
}

// TOOL-9: a source hears of threads.
func TestSourcesHearOfThreads(t *testing.T) {
	h := newHost(t)
	var heard []string
	h.plugin("acme.a", func(r *contrib.Registrar) error {
		_, err := tool.Sources.Add(r, &listening{Source: source("s"), heard: &heard})
		return err
	})
	h.plugin("acme.b", offers("deaf"))
	entries := h.inputs().Sources
	toolset.ReleaseThread(context.Background(), entries, "t1")
	assert.True(t, toolset.ForkThread(context.Background(), entries, "t1", "t2"))
	assert.False(t, toolset.ForkThread(context.Background(), entries[1:], "t1", "t2"))
	assert.Equal(t, []string{"release t1", "fork t1 t2"}, heard)
}

type listening struct {
	tool.Source
	heard *[]string
}

func (l *listening) ReleaseThread(_ context.Context, thread string) error {
	*l.heard = append(*l.heard, "release "+thread)
	return errors.New("ignored")
}

func (l *listening) ForkThread(_ context.Context, from, to string) (bool, error) {
	*l.heard = append(*l.heard, "fork "+from+" "+to)
	return true, nil
}

func TestCancellingEndsThePass(t *testing.T) {
	h := newHost(t)
	h.module("m", named("a"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := toolset.Plan(ctx, h.inputs())
	assert.ErrorIs(t, err, context.Canceled)
}
