package toolset_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

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
