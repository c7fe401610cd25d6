package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/schema"
)

// FIELD-E1, FIELD-E3, FIELD-E4: what is admitted, and which keyword is named when it is not.
func TestAdmission(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"not":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	admitted := map[string]string{
		`{"type":"object"}`: `{"type":"object"}`,
		`{}`:                `{"type":"object"}`,
		`{"$id":"x"}`:       `{"type":"object","$id":"x"}`,
		`{"anyOf":[{"type":"object"},{"type":"object"}]}`:                                       `{"type":"object","anyOf":[{"type":"object"},{"type":"object"}]}`,
		"{ \"b\" : 1,\n \"a\": [ 1.50 ] }":                                                      `{"type":"object","b":1,"a":[1.50]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{},{}]}`:                 `{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","items":[{},{}]}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"#"}`:        "",
		`{"properties":{"next":{"$ref":"#"}}}`:                                                  `{"type":"object","properties":{"next":{"$ref":"#"}}}`,
		`{"properties":{"x":{"$ref":"#/odd/place"}},"odd":{"place":{"type":"integer"}}}`:        `{"type":"object","properties":{"x":{"$ref":"#/odd/place"}},"odd":{"place":{"type":"integer"}}}`,
		`{"properties":{"x":{"$ref":"#here"},"y":{"$anchor":"here"}}}`:                          `{"type":"object","properties":{"x":{"$ref":"#here"},"y":{"$anchor":"here"}}}`,
		`{"format":"no such format","unknown":[1],"default":"x","minLength":2.0}`:               `{"type":"object","format":"no such format","unknown":[1],"default":"x","minLength":2.0}`,
		`{"properties":{"a":{"$id":"http://elsewhere/a","$ref":"#/$defs/b","$defs":{"b":{}}}}}`: `{"type":"object","properties":{"a":{"$id":"http://elsewhere/a","$ref":"#/$defs/b","$defs":{"b":{}}}}}`,
		deep(64): `{"type":"object",` + deep(64)[1:],
	}
	for raw, want := range admitted {
		s, err := schema.Compile(json.RawMessage(raw))
		if want == "" {
			// A reference that leads back to itself consumes nothing.
			assert.Error(t, err, raw)
			continue
		}
		if assert.NoError(t, err, raw) {
			assert.Equal(t, want, string(s.JSON()))
		}
	}
	refused := []struct{ raw, keyword string }{
		{`{"type":["object","null"]}`, "type"},
		{`{"type":["object"]}`, "type"},
		{`{"type":"string"}`, "type"},
		{`{"enum":["A"],"type":"null"}`, "type"},
		{`[]`, "type"},
		{`true`, "type"},
		{``, ""},
		{`{`, ""},
		{`{"a":1,"a":1}`, ""},
		{`{"type":"objekt"}`, "type"},
		{`{"properties":{"a":{"type":"objekt"}}}`, "type"},
		{`{"properties":{"a":{"type":[]}}}`, "type"},
		{`{"properties":{"a":{"type":["null","null"]}}}`, "type"},
		{`{"properties":{"a":5}}`, "properties"},
		{`{"properties":[]}`, "properties"},
		{`{"required":"a"}`, "required"},
		{`{"required":["a","a"]}`, "required"},
		{`{"required":[1]}`, "required"},
		{`{"allOf":[]}`, "allOf"},
		{`{"not":[]}`, "not"},
		{`{"enum":5}`, "enum"},
		{`{"minLength":-1}`, "minLength"},
		{`{"minLength":1.5}`, "minLength"},
		{`{"multipleOf":0}`, "multipleOf"},
		{`{"minimum":"1"}`, "minimum"},
		{`{"uniqueItems":1}`, "uniqueItems"},
		{`{"items":[{}]}`, "items"},
		{`{"title":1}`, "title"},
		{`{"$defs":{"a":1}}`, "$defs"},
		{`{"dependentRequired":{"a":{}}}`, "dependentRequired"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#"}`, "$schema"},
		{`{"$schema":5}`, "$schema"},
		{`{"$ref":"https://example.com/s"}`, "$ref"},
		{`{"$ref":"#/nowhere"}`, "$ref"},
		{`{"$ref":"#nowhere"}`, "$ref"},
		{`{"$ref":"#/title","title":"x"}`, "$ref"},
		{`{"$ref":"#"}`, "$ref"},
		{`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "$ref"},
		{`{"$anchor":"1a"}`, "$anchor"},
		{`{"$id":"x#y"}`, "$id"},
		{`{"properties":{"a":{"pattern":"(?=a)"}}}`, "pattern"},
		{`{"properties":{"a":{"pattern":"(?<!a)b"}}}`, "pattern"},
		{`{"properties":{"a":{"pattern":"(a)\\1"}}}`, "pattern"},
		{`{"properties":{"a":{"pattern":"["}}}`, "pattern"},
		{`{"patternProperties":{"(?!x)":{}}}`, "patternProperties"},
		{deep(65), ""},
		{`{"description":"` + strings.Repeat("x", 256<<10) + `"}`, ""},
	}
	for _, c := range refused {
		_, err := schema.Compile(json.RawMessage(c.raw))
		var invalid *schema.Invalid
		if assert.ErrorAs(t, err, &invalid, c.raw) {
			assert.Equal(t, c.keyword, invalid.Keyword, "%s: %v", c.raw, err)
			assert.NotEmpty(t, invalid.Detail)
		}
	}
}

func TestNumbersAreExact(t *testing.T) {
	s := compile(t, `{"properties":{
		"big":{"const":9007199254740993},"least":{"minimum":9007199254740993},"enum":{"enum":[1.0,100000000000000000000]},
		"ten":{"multipleOf":0.1},"seven":{"multipleOf":7},"huge":{"exclusiveMaximum":1e400},"int":{"type":"integer"},"unique":{"uniqueItems":true}}}`)
	valid := []string{
		`{"big":9007199254740993}`, `{"big":9007199254740993.0}`, `{"big":9.007199254740993e15}`, `{"least":9007199254740993}`,
		`{"enum":1}`, `{"enum":1e20}`, `{"ten":0.3}`, `{"ten":-1e100}`, `{"seven":7e5}`, `{"seven":123456789012345678901234567890}`,
		`{"huge":1e399}`, `{"int":1e1000000000000000000000}`, `{"int":-0.0}`, `{"unique":[9007199254740993,9007199254740992]}`,
	}
	for _, text := range valid {
		assert.Empty(t, s.Validate(json.RawMessage(text)), text)
	}
	invalid := []string{
		`{"big":9007199254740992}`, `{"least":9007199254740992}`, `{"enum":1.0000000000000000000001}`, `{"ten":0.35}`, `{"seven":1e5}`,
		`{"huge":1e400}`, `{"huge":2e99999999999999999999999}`, `{"int":1e-1}`, `{"unique":[1,1.0]}`, `{"unique":[{"a":1,"b":[2]},{"b":[2.0],"a":1}]}`,
	}
	for _, text := range invalid {
		assert.NotEmpty(t, s.Validate(json.RawMessage(text)), text)
	}
}

func TestPatternsMeanWhatECMA262Says(t *testing.T) {
	cases := []struct {
		pattern     string
		match, miss []string
	}{
		{`^\S+$`, []string{"a"}, []string{"a\u00a0b", "\ufeff", "\v"}},
		{`^\s$`, []string{"\u2003", "\u2028", " ", "\v"}, []string{"x", "\u200b"}},
		{`^[\s]$`, []string{"\u2003"}, []string{"x"}},
		{`^[\S]$`, []string{"x", "語"}, []string{"\u2003"}},
		{`^.$`, []string{"x", "😀"}, []string{"\n", "\r", "\u2028"}},
		{`^\d\w$`, []string{"1_"}, []string{"١a", "1é"}},
		{`^\u00e9\x41\u{1F600}\uD83D\uDE00$`, []string{"éA😀😀"}, nil},
		{`^\p{Lu}\p{Script=Greek}$`, []string{"Aα"}, []string{"aα"}},
		{`^[[]a[\b]\cA\0$`, []string{"[a\b\x01\x00"}, nil},
		{`^(?<year>\d{4})-(?:a|b)$`, []string{"2026-a"}, []string{"2026-c"}},
		{`^[^]$`, []string{"\n", "x"}, []string{""}},
		{`^[]$`, nil, []string{"", "x"}},
		{`^\/\.\-\@$`, []string{"/.-@"}, nil},
		{`b`, []string{"abc"}, []string{"ac"}},
		{`^a$`, []string{"a"}, []string{"a\n", "b\na"}},
		{`^[[:alpha:]]$`, []string{"a]", ":]"}, []string{"b"}},
	}
	for _, c := range cases {
		text, err := json.Marshal(c.pattern)
		require.NoError(t, err)
		s := compile(t, `{"properties":{"v":{"pattern":`+string(text)+`}}}`)
		check := func(v string) bool {
			doc, err := json.Marshal(map[string]string{"v": v})
			require.NoError(t, err)
			return len(s.Validate(doc)) == 0
		}
		for _, v := range c.match {
			assert.True(t, check(v), "%s %q", c.pattern, v)
		}
		for _, v := range c.miss {
			assert.False(t, check(v), "%s %q", c.pattern, v)
		}
	}
	for _, pattern := range []string{`\a`, `\z`, `\Qx`, `(?i)x`, `\k<a>`, `\u12`, `\x1`, `\c1`, `\p{Alphabetic=Yes}`, `\p`, `x{2000}`, `\`} {
		text, err := json.Marshal(pattern)
		require.NoError(t, err)
		_, err = schema.Compile(json.RawMessage(`{"properties":{"v":{"pattern":` + string(text) + `}}}`))
		assert.Error(t, err, pattern)
	}
}

// The public suite at hand has no files of draft 2019-09, so its peculiarities stand here.
func TestDraft201909(t *testing.T) {
	head := `{"$schema":"https://json-schema.org/draft/2019-09/schema",`
	cases := []struct {
		schema, text string
		valid        bool
	}{
		{head + `"properties":{"a":{"items":[{"type":"integer"}],"additionalItems":false}}}`, `{"a":[1]}`, true},
		{head + `"properties":{"a":{"items":[{"type":"integer"}],"additionalItems":false}}}`, `{"a":[1,2]}`, false},
		{head + `"properties":{"a":{"items":{"type":"integer"},"additionalItems":false}}}`, `{"a":[1,2]}`, true},
		{head + `"properties":{"a":{"contains":{"type":"integer"},"unevaluatedItems":false}}}`, `{"a":[1]}`, false},
		{head + `"properties":{"a":{"contains":{"type":"integer"},"minContains":0}}}`, `{"a":[]}`, true},
		{head + `"properties":{"a":{"prefixItems":[false]}}}`, `{"a":[1]}`, true},
		{head + `"dependencies":{"a":["b"]}}`, `{"a":1}`, true},
		{head + `"dependentRequired":{"a":["b"]}}`, `{"a":1}`, false},
		{head + `"properties":{"a":{"$ref":"#/$defs/x","minimum":5}},"$defs":{"x":{"type":"integer"}}}`, `{"a":4}`, false},
		{head + `"$recursiveAnchor":true,"properties":{"child":{"$recursiveRef":"#"},"n":{"type":"integer"}}}`, `{"child":{"child":{"n":"x"}}}`, false},
		{head + `"$id":"http://t/ext","$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$recursiveAnchor":true,` +
			`"type":"object","properties":{"data":true,"kids":{"type":"array","items":{"$recursiveRef":"#"}}}}}}`, `{"kids":[{"daat":1}]}`, false},
		{head + `"$id":"http://t/ext","$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$recursiveAnchor":true,` +
			`"type":"object","properties":{"data":true,"kids":{"type":"array","items":{"$recursiveRef":"#"}}}}}}`, `{"kids":[{"data":1}]}`, true},
	}
	for _, c := range cases {
		s := compile(t, c.schema)
		assert.Equal(t, c.valid, len(s.Validate(json.RawMessage(c.text))) == 0, "%s %s", c.schema, c.text)
	}
}

func TestWorkIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 60 {
		n := string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		from := string(rune('0'+i/10)) + string(rune('0'+i%10))
		b.WriteString(`"d` + from + `":{"allOf":[{"$ref":"#/$defs/d` + n + `"},{"$ref":"#/$defs/d` + n + `"}]},`)
	}
	b.WriteString(`"d60":{}}}`)
	s := compile(t, strings.Replace(b.String(), "d0\"", "d00\"", 1))
	found := s.Validate(json.RawMessage(`{}`))
	require.Len(t, found, 1)
	assert.Contains(t, found[0].Text, "too many steps")
}

// More members than fit in one word, and more than are searched one by one.
func TestManyMembers(t *testing.T) {
	var properties, required, values []string
	for i := range 200 {
		name := fmt.Sprintf("p%d", i)
		properties = append(properties, fmt.Sprintf(`"%s":{"type":"integer"}`, name))
		required = append(required, `"`+name+`"`)
		values = append(values, fmt.Sprintf(`"%s":%d`, name, i))
	}
	s := compile(t, `{"properties":{`+strings.Join(properties, ",")+`},"required":[`+strings.Join(required, ",")+`],"additionalProperties":false}`)
	assert.Empty(t, s.Validate(json.RawMessage(`{`+strings.Join(values, ",")+`}`)))
	for _, left := range []int{0, 63, 64, 199} {
		some := slices.Delete(slices.Clone(values), left, left+1)
		found := s.Validate(json.RawMessage(`{` + strings.Join(some, ",") + `}`))
		require.Len(t, found, 1)
		assert.Equal(t, fmt.Sprintf(`lacks the property "p%d"`, left), found[0].Text)
	}
	assert.Len(t, s.Validate(json.RawMessage(`{`+strings.Join(values, ",")+`,"p200":1}`)), 1)
}

func TestValidateWantsAnObject(t *testing.T) {
	s := compile(t, `{}`)
	assert.Empty(t, s.Validate(json.RawMessage(` {"a":1} `)))
	assert.Equal(t, "type", s.Validate(json.RawMessage(`[]`))[0].Keyword)
	assert.Len(t, s.Validate(json.RawMessage(`{`)), 1)
}

func TestCacheRemembersSchemasAndRefusals(t *testing.T) {
	var c schema.Cache
	a, err := c.Compile(json.RawMessage(small))
	require.NoError(t, err)
	b, err := c.Compile(json.RawMessage(strings.Clone(small)))
	require.NoError(t, err)
	assert.Same(t, a, b)
	_, first := c.Compile(json.RawMessage(`[]`))
	_, second := c.Compile(json.RawMessage(`[]`))
	require.Error(t, first)
	assert.Same(t, first, second)
}

func TestCacheIsBounded(t *testing.T) {
	var c schema.Cache
	first, err := c.Compile(json.RawMessage(small))
	require.NoError(t, err)
	for i := range 100 {
		_, err := c.Compile(json.RawMessage(`{"description":"` + strings.Repeat("x", 200_000+i) + `"}`))
		require.NoError(t, err)
	}
	again, err := c.Compile(json.RawMessage(small))
	require.NoError(t, err)
	assert.NotSame(t, first, again, "what nobody asks for is forgotten")
}
