package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// TOOL-12, FIELD-J2, FIELD-J3: results that are blank or long.
func TestLongResults(t *testing.T) {
	var numbers strings.Builder
	for i := 1; i <= 40_000; i++ {
		numbers.WriteString(strconv.Itoa(i) + "\n")
	}
	cases := map[string]struct{ text, left string }{
		"whole":    {strings.Repeat("x", 100_000), ""},
		"over":     {strings.Repeat("x", 100_001), "4,001"},
		"mega":     {strings.Repeat("x", 1<<20), "952,576"},
		"lines":    {numbers.String(), "132,894"},
		"emoji":    {strings.Repeat("😀", 100_001), "4,001"},
		"emojifit": {strings.Repeat("😀", 100_000), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.tools(says("t", c.text))
			o := h.call("t", `{}`)
			assert.Equal(t, "", code(o))
			if c.left == "" {
				assert.Equal(t, c.text, o.Text)
				assert.Empty(t, o.Result.Spill)
				return
			}
			assertBounded(t, h, o.Text, c.text)
			assert.Contains(t, o.Text, "\n["+c.left+" characters were left out")
			assert.Equal(t, filepath.Join(h.home, "spill", "t1", "c1.txt"), o.Result.Spill)
		})
	}
}

func TestAnotherLimit(t *testing.T) {
	h := newHost(t)
	h.turn.OutputLimit = 100
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Result{Content: []tool.Block{{Text: strings.Repeat("a", 90)}, {Text: strings.Repeat("b", 90)}}}, nil
	}))
	o := h.call("t", `{}`)
	require.Len(t, o.Result.Content, 1)
	head, rest, _ := strings.Cut(o.Text, "\n")
	line, tail, _ := strings.Cut(rest, "\n")
	assert.Equal(t, strings.Repeat("a", 80), head)
	assert.Contains(t, line, "[85 characters")
	assert.Equal(t, strings.Repeat("b", 16), tail)
}

func TestSpillsThatCannotBeWritten(t *testing.T) {
	h := newHost(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.home, "spill"), nil, 0o600))
	h.tools(says("t", strings.Repeat("x", 100_001)))
	o := h.call("t", `{}`)
	assert.Contains(t, o.Text, "could not be written")
	assert.Empty(t, o.Result.Spill)
	bare := newHost(t, func(c *dispatcher.Config) { c.Home = "" })
	bare.tools(says("t", strings.Repeat("x", 100_001)))
	assert.Contains(t, bare.call("t", `{}`).Text, "they were not kept")
}

// Ids of calls come from a model: they choose no path, and two of them no common file.
func TestSpillFilesStayInTheirPlace(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", strings.Repeat("x", 100_001)))
	seen := map[string]bool{}
	for _, id := range []string{"../../../etc/x", "..", ".", "a/1", "a_1", "A 1", "", strings.Repeat("z", 300), "c\x00d"} {
		o := h.dispatcher.Dispatch(context.Background(), h.turn, dispatcher.Request{ID: id, Name: "t", Audience: tool.AudienceModel})
		assert.Equal(t, filepath.Join(h.home, "spill", "t1"), filepath.Dir(o.Result.Spill), id)
		assert.False(t, seen[o.Result.Spill], id)
		seen[o.Result.Spill] = true
	}
	outside := filepath.Join(h.home, "outside")
	require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o600))
	link := filepath.Join(h.home, "spill", "t1", "c1.txt")
	require.NoError(t, os.Symlink(outside, link))
	h.call("t", `{}`)
	kept, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(kept), "no link is followed")
}

// TOOL-12: blank text needs an image beside it.
func TestBlankResults(t *testing.T) {
	image := tool.Block{MediaType: "image/png", Data: []byte(png)}
	h := newHost(t)
	h.turn.Images = true
	h.tools(says("blank", " \n\u00a0", audience(tool.AudienceModel|tool.AudienceHost)), registration("pictured", func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Result{Content: []tool.Block{{Text: ""}, image}}, nil
	}))
	o := h.call("blank", `{}`)
	assert.Equal(t, tool.CodeResultInvalid, code(o))
	assert.Equal(t, "blank", o.Result.Error.Params["reasonCode"])
	assert.Equal(t, "", code(h.call("pictured", `{}`)))
	o = h.dispatcher.Dispatch(context.Background(), h.turn, dispatcher.Request{ID: "c", Name: "blank", Audience: tool.AudienceHost})
	assert.Equal(t, "", code(o), "only a model needs something to read")
}

func audience(a tool.Audiences) func(*tool.Registration) {
	return func(r *tool.Registration) { r.Definition.Audiences = a }
}

func TestTextIsCleaned(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "a\x00b\xff\xfec語"), registration("f", func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Failed("acme", "m\x00\xff"+strings.Repeat("y", 20_000)), nil
	}))
	assert.Equal(t, "ab\uFFFD\uFFFDc語", h.call("t", `{}`).Text)
	o := h.call("f", `{}`)
	assert.True(t, strings.HasPrefix(o.Result.Error.Message, "m\uFFFDyyy"))
	assert.Len(t, []rune(o.Result.Error.Message), 10_001)
	assert.True(t, o.Result.Error.FromTool)
}

func TestImagesOfTools(t *testing.T) {
	images := []tool.Block{
		{MediaType: "image/bmp", Data: []byte("BM")},
		{MediaType: "image/jpeg", Data: []byte(png)},
		{MediaType: "image/webp", Data: []byte("RIFF0000WEBPxx")},
		{MediaType: "image/jpeg", Data: []byte("\xff\xd8\xff\xe0")},
		{MediaType: "image/png", Data: append([]byte(png), make([]byte, 20<<20)...)},
		{MediaType: "image/gif", Data: []byte("GIF87a")},
		{MediaType: "image/gif", Data: []byte("GIF87a")},
		{MediaType: "image/gif", Data: []byte("GIF87a")},
		{MediaType: "image/gif", Data: []byte("GIF87a")},
	}
	h := newHost(t)
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Result{Content: images}, nil }))
	h.turn.Images = true
	var got []string
	for _, b := range h.call("t", `{}`).Result.Content {
		got = append(got, b.MediaType+b.Text)
	}
	assert.Equal(t, []string{
		"[image omitted: its type is not png, jpeg, gif or webp]", "[image omitted: its bytes are not of its type]", "image/webp", "image/jpeg",
		"[image omitted: it is over 20 MiB]", "image/gif", "image/gif", "image/gif", "[image omitted: a result holds at most 8 images]",
	}, got)
	h.turn.Images = false
	for _, b := range h.call("t", `{}`).Result.Content {
		assert.Equal(t, "[image omitted: the model takes no images]", b.Text)
	}
	assert.Equal(t, "image/bmp", images[0].MediaType, "what the tool returned is left alone")
}

func TestStructuredContentHasToFit(t *testing.T) {
	h := newHost(t)
	give := json.RawMessage(`{"n":1}`)
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Result{Content: tool.Text("x").Content, Structured: give}, nil
	}, func(r *tool.Registration) {
		r.Definition.OutputSchema = json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)
	}))
	assert.JSONEq(t, `{"n":1}`, string(h.call("t", `{}`).Result.Structured))
	give = json.RawMessage(`{"n":"1"}`)
	o := h.call("t", `{}`)
	assert.Equal(t, "x", o.Text)
	assert.Empty(t, o.Result.Structured)
	notes := h.registry.Diagnostics()
	require.NotEmpty(t, notes)
	assert.Equal(t, tool.CodeOutputMismatch, notes[len(notes)-1].Code)
	assert.Equal(t, "builtin:tools:builtin", notes[len(notes)-1].Params["owner"])
}

func TestNormalizersOfOthers(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	normalize := func(id string, f func(tool.Result) (*tool.Result, error)) func() {
		g := h.plugin(id, with[dispatch.Normalizer](dispatch.Normalizers, dispatch.NormalizerFunc(
			func(_ context.Context, _ dispatch.Call, r tool.Result) (*tool.Result, error) { return f(r) }), contrib.Order(200)))
		return func() { <-g.Stop(contrib.StopOperator).Done() }
	}
	undo := normalize("acme.a", func(r tool.Result) (*tool.Result, error) {
		r.Content[0].Text, r.Meta, r.Spill = "seen", json.RawMessage(`{}`), "/x"
		return &r, nil
	})
	undoNil := normalize("acme.b", func(r tool.Result) (*tool.Result, error) { r.Content[0].Text = "in place"; return nil, nil })
	o := h.call("t", `{}`)
	assert.Equal(t, "seen", o.Text)
	assert.Empty(t, o.Result.Meta)
	assert.Empty(t, o.Result.Spill)
	undo()
	undoNil()
	undo = normalize("acme.c", func(tool.Result) (*tool.Result, error) { return nil, errors.New("x") })
	o = h.call("t", `{}`)
	assert.Equal(t, "normalizerFailed", o.Result.Error.Params["reasonCode"])
	assert.True(t, o.Executed)
	undo()
	normalize("acme.d", func(r tool.Result) (*tool.Result, error) { return &tool.Result{}, nil })
	assert.Equal(t, "blank", h.call("t", `{}`).Result.Error.Params["reasonCode"], "the seal looks at what the last one left")
}
