package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/schema"
)

func TestRoot(t *testing.T) { // FIELD-E1, FIELD-E5
	for text, want := range map[string]struct{ stripped, whole string }{
		`{"type":"object"}`: {`{"type":"object"}`, `{"type":"object"}`},
		`{}`:                {`{"type":"object"}`, `{"type":"object"}`},
		`{"anyOf":[{"type":"object"},{"type":"object"}]}`: {
			`{"type":"object"}`, `{"anyOf":[{"type":"object"},{"type":"object"}],"type":"object"}`,
		},
		` { "type" : "object", "properties": {"a": {"enum": [1]}} } `: {
			`{ "type" : "object", "properties": {"a": {"enum": [1]}} }`, `{ "type" : "object", "properties": {"a": {"enum": [1]}} }`,
		},
		`{"type":"object","oneOf":[],"allOf":[],"not":{},"if":{},"then":{},"else":{},"enum":[],"title":"t"}`: {
			`{"type":"object","title":"t"}`, `{"type":"object","oneOf":[],"allOf":[],"not":{},"if":{},"then":{},"else":{},"enum":[],"title":"t"}`,
		},
		`{"type":["object","null"],"title":"t"}`: {`{"type":"object","title":"t"}`, `{"type":"object","title":"t"}`},
	} {
		stripped, err := schema.Root([]byte("x"), []byte(text), true)
		require.NoError(t, err)
		assert.Equal(t, "x"+want.stripped, string(stripped), text)
		whole, err := schema.Root(nil, []byte(text), false)
		require.NoError(t, err)
		assert.Equal(t, want.whole, string(whole), text)
	}
	for _, text := range []string{``, `[]`, `"x"`, `{"a":`, `{} {}`, `true`} {
		_, err := schema.Root(nil, []byte(text), true)
		require.ErrorIs(t, err, schema.ErrNotObject, text)
		_, err = schema.Dialect([]byte(text))
		require.ErrorIs(t, err, schema.ErrNotObject, text)
	}
}

// Each file below testdata holds a schema and what becomes of it.
func TestDialect(t *testing.T) { // FIELD-E5
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var test struct{ Schema, Want json.RawMessage }
			require.NoError(t, json.Unmarshal(text, &test))
			got, err := schema.Dialect(test.Schema)
			require.NoError(t, err)
			assert.JSONEq(t, string(test.Want), string(got))
			var cache schema.Cache
			for range 2 {
				cached, err := cache.Dialect(test.Schema)
				require.NoError(t, err)
				assert.Equal(t, string(got), string(cached))
			}
		})
	}
}

// References that multiply are cut off before they fill the memory.
func TestReferencesThatExplode(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 40 {
		b.WriteString(`"d` + string(rune('0'+i%10)) + strings.Repeat("x", i/10) + `":{"type":"object","properties":{`)
		next := i + 1
		name := "d" + string(rune('0'+next%10)) + strings.Repeat("x", next/10)
		for k := range 10 {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"p` + string(rune('0'+k)) + `":{"$ref":"#/$defs/` + name + `"}`)
		}
		b.WriteString(`}},`)
	}
	b.WriteString(`"d0xxxx":{"type":"string"}}}`)
	got, err := schema.Dialect([]byte(b.String()))
	require.NoError(t, err)
	assert.Less(t, len(got), 8<<20)
	assert.True(t, json.Valid(got))
}

func FuzzDialect(f *testing.F) {
	f.Add([]byte(`{"type":["string","null"],"properties":{"a":{"$ref":"#"}},"items":{"const":1},"anyOf":[true,{}]}`))
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a","description":"d"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		got, err := schema.Dialect(text)
		if err == nil && !json.Valid(got) {
			t.Fatalf("%s became %s", text, got)
		}
		got, err = schema.Root(nil, text, true)
		if err == nil && !json.Valid(got) {
			t.Fatalf("%s became %s", text, got)
		}
	})
}
