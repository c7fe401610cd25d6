package modelhook_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/modelhook"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/rawhook"
)

// prepare runs raw hooks over a request that has every kind of item, and returns what broke.
func prepare(t testing.TB, accepts bool, hooks ...func(items []hook.Item) []hook.Item) (modelhook.Prepared, modelhook.Request, []string) {
	t.Helper()
	registry := newRegistry(t)
	for i, h := range hooks {
		_, err := rawhook.RebuildModels.Add(registry.Builtin(), rawhook.RebuildModelFunc(func(_ context.Context, r hook.Request) ([]hook.Item, error) {
			return h(r.Items), nil
		}), contrib.Label("h"+strconv.Itoa(i)))
		require.NoError(t, err)
	}
	return run(t, registry, accepts)
}

// transform runs one ordinary hook over the same request.
func transform(t testing.TB, h func(items []hook.Item) []hook.Item) (modelhook.Prepared, modelhook.Request, []string) {
	t.Helper()
	registry := newRegistry(t)
	_, err := hook.TransformModels.Add(registry.Builtin(), hook.TransformModelFunc(func(_ context.Context, r hook.Request) ([]hook.Item, error) {
		return h(r.Items), nil
	}))
	require.NoError(t, err)
	return run(t, registry, true)
}

func newRegistry(t testing.TB) *contrib.Registry {
	t.Helper()
	registry, err := contrib.New(rawhook.RebuildModels, hook.TransformModels, hook.ModelResponses)
	require.NoError(t, err)
	return registry
}

func run(t testing.TB, registry *contrib.Registry, accepts bool) (modelhook.Prepared, modelhook.Request, []string) {
	t.Helper()
	var rules []string
	image := model.Image{Number: 1, MediaType: "image/png", SHA256: "x"}
	r := modelhook.Request{
		AcceptsImages: accepts, System: "system", Purpose: model.Work,
		Items: []*model.Item{
			{ID: "i1", Kind: model.Message, Role: model.User, Text: "see \u2063[Image #1]", Images: []model.Image{image}},
			{ID: "i2", Kind: model.Reasoning, Segments: []model.Segment{{Text: "why", Kind: model.SegmentSummary}}, State: &model.State{Format: "f"}},
			{ID: "i3", Kind: model.ToolCall, CallID: "c", Name: "read", Arguments: "{}", State: &model.State{Format: "f"}},
			{ID: "i4", Kind: model.ToolResult, CallID: "c", Text: "out", Status: model.TimedOut},
		},
		Report: func(_ *contrib.EntryInfo, f *contrib.CallError) { rules = append(rules, f.Rule) },
	}
	p, err := modelhook.Prepare(t.Context(), registry.View(), r)
	require.NoError(t, err)
	return p, r, rules
}

func TestProjection(t *testing.T) {
	var got []hook.Item
	p, r, _ := prepare(t, true, func(items []hook.Item) []hook.Item { got = items; return nil })
	assert.Equal(t, []hook.Item{
		{ID: "0", Kind: model.Message, Role: model.System, Text: "system"},
		{ID: "1", Kind: model.Message, Role: model.User, Text: "see [Image #1]", Images: []hook.ImageRef{{Number: 1, MediaType: "image/png"}}},
		{ID: "2", Kind: model.Reasoning, Text: "why"},
		{ID: "3", Kind: model.ToolCall, CallID: "c", Name: "read", Arguments: "{}"},
		{ID: "4", Kind: model.ToolResult, CallID: "c", Name: "read", Text: "out"},
	}, got)
	assert.Same(t, r.Items[0], p.Items[0])
	assert.Nil(t, p.Raw)
}

func TestUnchangedItemsKeepTheirIdentity(t *testing.T) {
	p, r, rules := prepare(t, true, func(items []hook.Item) []hook.Item {
		items[3].Arguments = `{"a":1}`
		return items
	})
	assert.Empty(t, rules)
	assert.Same(t, r.Items[0], p.Items[0])
	assert.Same(t, r.Items[1], p.Items[1])
	assert.Equal(t, &model.Item{ID: "i3", Kind: model.ToolCall, CallID: "c", Name: "read", Arguments: `{"a":1}`}, p.Items[2], "without state of the provider")
	assert.Equal(t, "{}", r.Items[2].Arguments, "the thread is not touched")
	assert.Equal(t, []string{"h0"}, p.Raw)
}

func TestChangesOfSingleItems(t *testing.T) {
	for name, c := range map[string]struct {
		change func(items []hook.Item) []hook.Item
		check  func(t *testing.T, p modelhook.Prepared)
	}{
		"success flips the status": {func(items []hook.Item) []hook.Item {
			items[4].Success = true
			return items
		}, func(t *testing.T, p modelhook.Prepared) { assert.Equal(t, model.Success, p.Items[3].Status) }},
		"a text leaves the status": {func(items []hook.Item) []hook.Item {
			items[4].Text = "other"
			return items
		}, func(t *testing.T, p modelhook.Prepared) { assert.Equal(t, model.TimedOut, p.Items[3].Status) }},
		"reasoning becomes one text": {func(items []hook.Item) []hook.Item {
			items[2].Text = "because"
			return items
		}, func(t *testing.T, p modelhook.Prepared) {
			assert.Equal(t, []model.Segment{{Text: "because", Kind: model.SegmentText}}, p.Items[1].Segments)
			assert.Nil(t, p.Items[1].State)
		}},
		"an image that is not listed loses its place": {func(items []hook.Item) []hook.Item {
			items[1].Images = nil
			return items
		}, func(t *testing.T, p modelhook.Prepared) {
			assert.Equal(t, "see ", p.Items[0].Text)
			assert.Empty(t, p.Items[0].Images)
		}},
		"an image without a place gets one at the end": {func(items []hook.Item) []hook.Item {
			items[1].Text = "look"
			return items
		}, func(t *testing.T, p modelhook.Prepared) { assert.Equal(t, "look\n\u2063[Image #1]", p.Items[0].Text) }},
		"an image of a text that ends its line": {func(items []hook.Item) []hook.Item {
			items[1].Text = "look\n"
			return items
		}, func(t *testing.T, p modelhook.Prepared) { assert.Equal(t, "look\n\u2063[Image #1]", p.Items[0].Text) }},
		"an image of no text": {func(items []hook.Item) []hook.Item {
			items[1].Text = ""
			return items
		}, func(t *testing.T, p modelhook.Prepared) { assert.Equal(t, "\u2063[Image #1]", p.Items[0].Text) }},
		"an image in the first place": {func(items []hook.Item) []hook.Item {
			items[1].Text = "[Image #1] it is"
			return items
		}, func(t *testing.T, p modelhook.Prepared) { assert.Equal(t, "\u2063[Image #1] it is", p.Items[0].Text) }},
		"the last of equal texts is the image's place": {func(items []hook.Item) []hook.Item {
			items[1].Text = "not [Image #1] but [Image #1]"
			return items
		}, func(t *testing.T, p modelhook.Prepared) {
			assert.Equal(t, "not [Image #1] but \u2063[Image #1]", p.Items[0].Text)
		}},
		"the system text may go": {func(items []hook.Item) []hook.Item { return items[1:] }, func(t *testing.T, p modelhook.Prepared) {
			assert.Empty(t, p.System)
			assert.Len(t, p.Items, 4)
		}},
		"another kind under an id is a new item": {func(items []hook.Item) []hook.Item {
			items[3] = hook.Item{ID: "3", Kind: model.Message, Role: model.Assistant, Text: "was a call"}
			return items
		}, func(t *testing.T, p modelhook.Prepared) {
			assert.Equal(t, &model.Item{Kind: model.Message, Role: model.Assistant, Text: "was a call"}, p.Items[2])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, rules := prepare(t, true, c.change)
			require.Empty(t, rules)
			c.check(t, p)
		})
	}
}

func TestDroppedItemDoesNotComeBackThroughItsID(t *testing.T) {
	p, r, _ := prepare(t, true,
		func(items []hook.Item) []hook.Item { return append(items[:2:2], items[3:]...) },
		func(items []hook.Item) []hook.Item {
			return append(items, hook.Item{ID: "2", Kind: model.Reasoning, Text: "why"})
		})
	last := p.Items[len(p.Items)-1]
	assert.NotSame(t, r.Items[1], last)
	assert.Nil(t, last.State)
	assert.Equal(t, []string{"h0", "h1"}, p.Raw)
}

func TestImagesThatWereThereMayStay(t *testing.T) {
	p, _, rules := prepare(t, false, func(items []hook.Item) []hook.Item { items[4].Text = "other"; return items })
	assert.Empty(t, rules)
	assert.Equal(t, "other", p.Items[3].Text)
}

func TestRefusedLists(t *testing.T) {
	for name, c := range map[string]struct {
		accepts bool
		change  func(items []hook.Item) []hook.Item
		rule    string
	}{
		"no items":           {true, func([]hook.Item) []hook.Item { return []hook.Item{} }, "a request needs at least one item"},
		"a blank id":         {true, func(i []hook.Item) []hook.Item { i[0].ID = ""; return i }, "an item id must have 1 to 64 characters"},
		"an unknown kind":    {true, func(i []hook.Item) []hook.Item { i[0].Kind = "song"; return i }, `the item kind "song" is unknown`},
		"an unknown role":    {true, func(i []hook.Item) []hook.Item { i[0].Role = "bard"; return i }, `the role "bard" is unknown`},
		"emptied reasoning":  {true, func(i []hook.Item) []hook.Item { i[2].Text = ""; return i }, "reasoning may not become empty"},
		"another media type": {true, func(i []hook.Item) []hook.Item { i[1].Images[0].MediaType = "image/gif"; return i }, "image 1 is not in the request under that media type"},
		"an added image": {
			false, func(i []hook.Item) []hook.Item { i[4].Images = i[1].Images; return i },
			"this request accepts no images",
		},
		"an added image, where another was": {
			false, func(i []hook.Item) []hook.Item { i[4], i[1] = i[1], i[4]; i[1].Images = i[4].Images; return i },
			"this request accepts no images",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, r, rules := prepare(t, c.accepts, c.change)
			assert.Equal(t, []string{c.rule}, rules)
			assert.Same(t, r.Items[0], p.Items[0])
			assert.Equal(t, "system", p.System)
		})
	}
}

// What an ordinary transform may change is the text of messages and results, and it may take images away.
func TestRefusedTransforms(t *testing.T) {
	const order = "items may not be replaced or change places"
	for name, c := range map[string]struct {
		change func(i []hook.Item)
		rule   string
	}{
		"a message":              {func(i []hook.Item) { i[1].Text = "else" }, ""},
		"a result":               {func(i []hook.Item) { i[4].Text = "else" }, ""},
		"no image":               {func(i []hook.Item) { i[1].Images = nil }, ""},
		"another id":             {func(i []hook.Item) { i[1].ID = "9" }, order},
		"another kind":           {func(i []hook.Item) { i[1].Kind = model.Reasoning }, order},
		"other places":           {func(i []hook.Item) { i[1], i[2] = i[2], i[1] }, order},
		"another role":           {func(i []hook.Item) { i[1].Role = model.Assistant }, "a role may not change"},
		"the system message":     {func(i []hook.Item) { i[0].Text = "else" }, "a system message may not change"},
		"arguments of a call":    {func(i []hook.Item) { i[3].Arguments = `{"a":1}` }, "a tool call may not change"},
		"the name of a call":     {func(i []hook.Item) { i[3].Name = "write" }, "a tool call may not change"},
		"the call of a result":   {func(i []hook.Item) { i[4].CallID = "d" }, "call id, name and success of a result may not change"},
		"the name of a result":   {func(i []hook.Item) { i[4].Name = "write" }, "call id, name and success of a result may not change"},
		"a result that succeeds": {func(i []hook.Item) { i[4].Success = true }, "call id, name and success of a result may not change"},
		"reasoning":              {func(i []hook.Item) { i[2].Text = "else" }, "reasoning may not change"},
		"an added image":         {func(i []hook.Item) { i[4].Images = i[1].Images }, "an image may not be added"},
	} {
		t.Run(name, func(t *testing.T) {
			p, r, rules := transform(t, func(items []hook.Item) []hook.Item { c.change(items); return items })
			if c.rule == "" {
				assert.Empty(t, rules)
				assert.NotEqual(t, r.Items, p.Items)
				return
			}
			assert.Equal(t, []string{c.rule}, rules)
			assert.Equal(t, r.Items, p.Items)
		})
	}
	_, _, rules := transform(t, func(items []hook.Item) []hook.Item { return items[:len(items)-1] })
	assert.Equal(t, []string{"the number of items may not change"}, rules)
}
