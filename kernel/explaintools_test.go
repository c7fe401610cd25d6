package kernel_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestExplainedToolsAreThoseOfTheRequest(t *testing.T) {
	words := "Short."
	hidden := reading("secret", answering(""))
	hidden.Definition.Exposure = tool.Hidden
	bad := reading("bad name", answering(""))
	bad.Definition.ID = "bad"
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Tools(reading("read", answering(""))), kerneltest.Plugins(
		plugin("acme.a", source(reading("look", answering("")), reading("gone", answering("")), hidden, bad)),
		plugin("acme.b", source(reading("look", answering("")), reading("read", answering("")))),
		plugin("acme.r", contrib.Supply[tool.Restriction](tool.Restrictions, tool.RestrictionFunc(
			func(_ context.Context, d tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
				switch d.Name {
				case "look":
					return &tool.Edit{Description: &words}, nil
				case "gone":
					return &tool.Edit{Mask: true}, nil
				}
				return nil, nil
			})))))
	tools, err := k.ExplainTools(t.Context(), k.Thread().ID(), kernel.Options{})
	require.NoError(t, err)
	var got []string
	for _, e := range tools {
		owner, _, _ := strings.Cut(e.Owner, "@")
		to, _, _ := strings.Cut(e.LostTo, "@")
		detail, _, _ := strings.Cut(e.Detail, ":")
		got = append(got, strings.Join([]string{e.Name, owner, string(e.Lost), to, detail}, "|"))
		if e.Name == "look" && e.Lost == "" {
			require.Len(t, e.Edits, 1)
			assert.Contains(t, e.Edits[0], "plugin:acme.r@")
		}
	}
	assert.Equal(t, []string{
		"look|plugin:acme.a|||", "read|builtin|||", "secret|plugin:acme.a|||", "gone|plugin:acme.a|masked|plugin:acme.r|",
		"bad|plugin:acme.a|refused||name", "look|plugin:acme.b|name taken|plugin:acme.a|", "read|plugin:acme.b|name taken|builtin:kerneltest|",
	}, got)

	k.Run("go")
	carried := map[string]int{}
	for _, m := range last(k).Tools {
		data, err := json.Marshal(map[string]any{"name": m.Name, "description": m.Description, "inputSchema": json.RawMessage(m.Schema)})
		require.NoError(t, err)
		carried[m.Name] = len(data)
	}
	for _, e := range tools {
		if e.Lost == "" {
			assert.Equal(t, carried[e.WireName], e.Bytes, e.Name)
			delete(carried, e.WireName)
		}
	}
	assert.Empty(t, carried, "each tool of the request is explained")

	disable(t, k, "acme.a")
	tools, err = k.ExplainTools(t.Context(), k.Thread().ID(), kernel.Options{})
	require.NoError(t, err)
	assert.Contains(t, tools[0].Owner, "plugin:acme.b@", "the name goes to the next")
}

func TestExplanationForgetsEditsThatDoNotCount(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Tools(reading("read", answering(""))),
		contrib.Supply[tool.Restriction](tool.Restrictions, tool.RestrictionFunc(
			func(context.Context, tool.Definition, tool.Exposure, tool.Planning) (*tool.Edit, error) {
				return &tool.Edit{Mask: true}, nil
			})))
	tools, err := k.ExplainTools(t.Context(), "", kernel.Options{})
	require.NoError(t, err)
	require.Len(t, tools, 1)
	assert.Empty(t, tools[0].Lost)
	assert.Positive(t, tools[0].Bytes)
}
