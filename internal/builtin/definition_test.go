package builtin_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/tool"
)

func field(t testing.TB, r tool.Result, name string) json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(r.Structured, &fields))
	return fields[name]
}

func TestDefinitions(t *testing.T) {
	d := newDesk(t)
	all, err := d.source.Tools(context.Background(), tool.Planning{})
	require.NoError(t, err)
	var names []string
	for _, r := range all {
		names = append(names, r.Definition.Name)
		assert.NotEmpty(t, r.Definition.Description)
		assert.Equal(t, "builtin:tools:builtin:"+r.Definition.Name, r.Definition.Key.String())
		var schema jsonschema.Schema
		require.NoError(t, json.Unmarshal(r.Definition.InputSchema, &schema))
		_, err := schema.Resolve(nil)
		assert.NoError(t, err)
		want := tool.CatalogBoth
		if n := r.Definition.Name; n == "edit" || n == "write" || n == "bash" {
			want = tool.CatalogWork
		}
		assert.Equal(t, want, r.Definition.Catalogs, r.Definition.Name)
	}
	assert.Equal(t, []string{"read", "list", "glob", "grep", "todowrite", "todoread", "question", "edit", "write", "bash"}, names)
}

// FIELD-E9 (the tool's side: a wrong shape is classified and refused, and nothing panics)
func TestArgumentsOfTheWrongShape(t *testing.T) {
	d := newDesk(t)
	k := d.classify("bash", args{"command": map[string]any{"a": 1}})
	assert.Equal(t, "Write Workspace", k.Risk.String()+" "+k.Authority.String())
	for _, name := range []string{"read", "list", "glob", "grep", "edit", "write", "bash"} {
		r := d.runIn(context.Background(), "t1", name, args{"command": 1, "path": 1, "pattern": 1}, tool.Classification{})
		require.True(t, r.Failed, name)
		assert.Equal(t, tool.CodeInputInvalid, r.Error.Code, name)
	}
}

func TestACancelledCallDoesNothing(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"read", "list", "glob", "grep", "edit", "write", "bash"} {
		r := d.runIn(ctx, "t1", name, args{"command": "touch x", "path": "x", "pattern": "x", "content": "x", "oldText": "a", "newText": "b"}, tool.Classification{})
		assert.Equal(t, tool.CodeCancelled, r.Error.Code, name)
	}
	assert.NoFileExists(t, d.ws+"/x")
}
