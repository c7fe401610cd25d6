package toolset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

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

// HOST-19
func TestAToolIsPlannedInItsCatalogs(t *testing.T) {
	h := newHost(t)
	h.plugin("acme.a", offers("a", named("both"), named("work", func(r *tool.Registration) { r.Definition.Catalogs = tool.CatalogWork }),
		named("plan", func(r *tool.Registration) { r.Definition.Catalogs = tool.CatalogPlan })))
	for catalog, want := range map[tool.Catalogs][]string{tool.CatalogWork: {"both", "work"}, tool.CatalogPlan: {"both", "plan"}} {
		in := h.inputs()
		in.Planning.Catalog = catalog
		s, notes, err := toolset.Plan(context.Background(), in)
		require.NoError(t, err)
		assert.Empty(t, notes)
		assert.Equal(t, want, listed(s))
	}
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
	hidden := deferred
	hidden.Definition.Name, hidden.Definition.ID, hidden.Definition.Audiences = "hidden", "hidden", tool.AudienceHost
	absent := deferred
	absent.Definition.Name, absent.Definition.ID, absent.Binding.Unavailable = "absent", "absent", true
	h.module("m", deferred, hidden, absent, named("plain"))
	search := in.Search
	in = h.inputs()
	in.Search = search
	s, _, err = toolset.Plan(context.Background(), in)
	require.NoError(t, err)
	assert.Equal(t, []string{"plain", "tool_search"}, listed(s))
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
