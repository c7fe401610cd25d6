package jsonc_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

func TestParseAcceptsWhatPeopleWrite(t *testing.T) {
	for name, text := range map[string]string{
		"FIELD-N1 byte order mark and CRLF": "\ufeff{\"plugins\":false}\r\n",
		"FIELD-N2 comments, trailing comma": "{ // on\n \"plugins\": false, /* which */ \"id\": \"a // b /* c */\",\n}",
		"a comment ends the file":           "{\"plugins\":false} // done",
	} {
		t.Run(name, func(t *testing.T) {
			o, err := jsonc.Parse("config.json", []byte(text))
			require.NoError(t, err)
			on, ok := o.Fields(func(p jsonc.Problem) { t.Error(p) }).Bool("plugins")
			assert.True(t, ok)
			assert.False(t, on)
		})
	}
}

func TestParseSaysWhereAFileIsBroken(t *testing.T) {
	tests := []struct {
		name, text string
		line, col  int
		reason     string
	}{
		{"HOST-1 an open brace", "{", 1, 2, "ends too early"},
		{"FIELD-B18 text behind the object", `{"enabled":true,"id":"acme.x"} trailing`, 1, 32, "after top-level value"},
		{"FIELD-B18 an array", "[]", 1, 1, "must be an object"},
		{"FIELD-B18 nothing", "", 1, 1, "ends too early"},
		{"a missing colon", "{\n  \"a\" 1\n}", 2, 7, "after object name"},
		{"columns count characters", "{\"日本\" 1}", 1, 7, "after object name"},
		{"no UTF-8", "{\"a\": \"\xff\"}", 1, 8, "UTF-8"},
		{"deep nesting", `{"a":` + strings.Repeat("[", 300), 1, 205, "nested deeper"},
		{"a bad escape", `{"apiKey": "sk-123\x"}`, 1, 12, "not written as JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := jsonc.Parse("f.json", []byte(tt.text))
			var syntax *jsonc.SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Equal(t, tt.line, syntax.Line)
			assert.Equal(t, tt.col, syntax.Column)
			assert.Contains(t, syntax.Reason, tt.reason)
			assert.NotContains(t, err.Error(), "sk-123", "a broken file may hold a key")
		})
	}
}

func TestReadCreatesNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := jsonc.Read(filepath.Join(dir, "none", "config.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestFieldsCostAloneWhatIsWrong(t *testing.T) {
	o, err := jsonc.Parse("f", []byte(`{
		"bool": "yes", "text": " ", "word": "Compiled", "int": 1.5, "whole": 5.0, "count": "unlimited", "many": -1,
		"number": 2, "bare": 5, "zero": "0s", "long": "1h30m", "none": "unlimited", "texts": ["a", 1], "some": ["a", 1],
		"object": [], "secret": 12345, "twice": 1, "twice": 2, "plgins": 1, "$schema": "x"
	}`))
	require.NoError(t, err)
	var got []string
	f := o.Fields(func(p jsonc.Problem) { got = append(got, p.String()) })
	f.Known("$schema", "plugins")
	_, ok := f.Bool("bool")
	assert.False(t, ok)
	_, ok = f.Text("text")
	assert.False(t, ok)
	_, ok = f.OneOf("word", "compiled")
	assert.False(t, ok)
	_, ok = f.Integer("int", 1, 9)
	assert.False(t, ok)
	n, ok := f.Integer("whole", 1, 9)
	assert.True(t, ok)
	assert.Equal(t, 5, n)
	n, ok = f.Count("count", 1)
	assert.True(t, ok)
	assert.Equal(t, -1, n)
	_, ok = f.Count("many", 0)
	assert.False(t, ok)
	_, ok = f.Number("number", func(x float64) bool { return x <= 1 }, "a number up to 1")
	assert.False(t, ok)
	_, ok = f.Duration("bare")
	assert.False(t, ok)
	_, ok = f.Duration("zero")
	assert.False(t, ok)
	d, ok := f.Duration("long")
	assert.True(t, ok)
	assert.Equal(t, 90*time.Minute, d)
	d, ok = f.DurationOrUnlimited("none")
	assert.True(t, ok)
	assert.Negative(t, d)
	_, ok = f.Texts("texts")
	assert.False(t, ok)
	texts, ok := f.TextsThat("some", func(string) bool { return true }, "texts")
	assert.True(t, ok)
	assert.Equal(t, []string{"a"}, texts)
	_, ok = f.Object("object")
	assert.False(t, ok)
	_, ok = f.Secret("secret")
	assert.False(t, ok)
	n, ok = f.Integer("twice", 0, math.MaxInt)
	assert.True(t, ok)
	assert.Equal(t, 2, n)
	_, ok = f.Text("missing")
	assert.False(t, ok)
	f.Done()
	assert.Equal(t, []string{
		`key "twice" appears twice; the last one counts`,
		`"bool" is "yes"; allowed: true or false`,
		`"text" is " "; allowed: a text in quotes`,
		`"word" is "Compiled"; allowed: "compiled"`,
		`"int" is 1.5; allowed: a whole number from 1 to 9`,
		`"many" is -1; allowed: a whole number of 0 or more, or "unlimited"`,
		`"number" is 2; allowed: a number up to 1`,
		`"bare" is 5; allowed: a duration with a unit, such as "90s" or "1h30m"; add a unit, as in "5s"`,
		`"zero" is "0s"; allowed: a duration with a unit, such as "90s" or "1h30m"`,
		`"texts" is an array; allowed: an array of texts`,
		`"some[1]" is 1; allowed: texts`,
		`"object" is an array; allowed: an object, { … }`,
		`"secret" is not a text; allowed: a text in quotes`,
		`unknown key "plgins"; did you mean "plugins"?`,
	}, got)
}

func TestPathsReachIntoTheFile(t *testing.T) {
	o, err := jsonc.Parse("f", []byte(`{"limits": {"deep": {"x": 1}}}`))
	require.NoError(t, err)
	limits, ok := o.Object("limits")
	require.True(t, ok)
	deep, ok := limits.Object("deep")
	require.True(t, ok)
	assert.Equal(t, "limits.deep.x", deep.Path("x"))
	assert.Equal(t, `{"x":1}`, string(limits.JSON("deep")))
	assert.Nil(t, limits.JSON("none"))
}

func TestNearFindsTheKeyThatWasMeant(t *testing.T) {
	known := []string{"plugins", "provider", "model", "mode"}
	for word, want := range map[string]string{
		"plugns": "plugins", "PLUGINS": "plugins", "modl": "model", "provder": "provider", "bell": "", "": "",
	} {
		assert.Equal(t, want, jsonc.Near(word, known), word)
	}
}

// A parse never panics, and what was parsed can be changed and parsed again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"{}", "\ufeff{\"a\":1,}", "{/**/\"a\":[1,//\n2]}", "[", "{\"a\":{\"b\":\"\\ud83d\"}}", "{}//"} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "f.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := jsonc.Parse("f", text)
		if err != nil {
			var syntax *jsonc.SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 {
				t.Fatalf("no position: %v", err)
			}
			return
		}
		for _, k := range o.Keys() {
			o.JSON(k)
			o.Object(k)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Set(true, "added", "here") }); err != nil {
			return
		}
		if _, err := jsonc.Read(path); err != nil {
			t.Fatalf("the changed file does not parse: %v", err)
		}
	})
}
