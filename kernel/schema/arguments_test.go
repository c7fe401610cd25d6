package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/schema"
	"github.com/crystalkernel/crystal/points/tool"
)

func compile(t testing.TB, raw string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(json.RawMessage(raw))
	require.NoError(t, err)
	return s
}

// FIELD-F1, FIELD-F4, FIELD-F7, FIELD-F8, FIELD-F9, FIELD-F11: what argument text is taken, and where it goes wrong.
func TestArgumentText(t *testing.T) {
	s := compile(t, `{"type":"object"}`)
	deep := func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	cases := []struct {
		name, text, want string
		reason           schema.Reason
		offset           int
	}{
		{name: "absent", text: "", want: "{}"},
		{name: "white space", text: " \t\r\n", want: "{}"},
		{name: "order and literals are kept", text: ` {"b": 1.50, "a": 1e2} `, want: `{"b": 1.50, "a": 1e2}`},
		{name: "right backslashes stay right", text: `{"p":"C:\\Users\\unicorn\\a.txt"}`, want: `{"p":"C:\\Users\\unicorn\\a.txt"}`},
		{name: "half a pair stays as it came", text: `{"p":"\ud83d"}`, want: `{"p":"\ud83d"}`},
		{name: "ends too early", text: `{"command":"ls"`, reason: schema.NotJSON, offset: 15},
		{name: "ends in a string", text: `{"a":"b`, reason: schema.NotJSON, offset: 7},
		{name: "ends in an escape", text: `{"a":"\u12`, reason: schema.NotJSON, offset: 10},
		{name: "control character", text: "{\"command\":\"ls\",\"note\":\"abcd\x01\"}", reason: schema.NotJSON, offset: 28},
		{name: "invalid byte", text: "{\"a\":\"\xff\"}", reason: schema.NotJSON, offset: 6},
		{name: "byte order mark", text: "\ufeff{}", reason: schema.NotJSON, offset: 0},
		{name: "comment", text: `{} // x`, reason: schema.TrailingText, offset: 2},
		{name: "one bracket too many", text: `{"path":"a"}}`, reason: schema.TrailingText, offset: 12},
		{name: "two objects", text: ` {"a":1} {"a":2}`, reason: schema.TrailingText, offset: 8},
		{name: "comma at the end", text: `{"a":1,}`, reason: schema.NotJSON, offset: 7},
		{name: "single quotes", text: `{'a':1}`, reason: schema.NotJSON, offset: 1},
		{name: "leading zero", text: `{"a":01}`, reason: schema.NotJSON, offset: 6},
		{name: "no digit", text: `{"a":-}`, reason: schema.NotJSON, offset: 6},
		{name: "NaN", text: `{"a":NaN}`, reason: schema.NotJSON, offset: 5},
		{name: "key twice", text: `{"a":1,"a":2}`, reason: schema.DuplicateKey, offset: 7},
		{name: "key twice, escaped", text: `{"a":1,"\u0061":2}`, reason: schema.DuplicateKey, offset: 7},
		{name: "key twice, inside", text: `{"o":[{"x":1,"x":1}]}`, reason: schema.DuplicateKey, offset: 13},
		{name: "null", text: "null", reason: schema.NotObject, offset: -1},
		{name: "array", text: "[]", reason: schema.NotObject, offset: -1},
		{name: "array of an object", text: `[{"path":"a"}]`, reason: schema.NotObject, offset: -1},
		{name: "string", text: `"a.txt"`, reason: schema.NotObject, offset: -1},
		{name: "long string", text: `"` + strings.Repeat("x", 10_000) + `"`, reason: schema.NotObject, offset: -1},
		{name: "string in a string", text: `"\"{}\""`, reason: schema.NotObject, offset: -1},
		{name: "number", text: "5", reason: schema.NotObject, offset: -1},
		{name: "128 deep", text: deep(128), want: deep(128)},
		{name: "129 deep", text: deep(129), reason: schema.TooDeep, offset: 128 * 5},
		{name: "over 16 MiB", text: `{"a":"` + strings.Repeat("x", 16<<20) + `"}`, reason: schema.TooLarge, offset: -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			args, coercions, fault := s.Check(c.text)
			if c.reason == "" {
				require.Nil(t, fault)
				assert.Equal(t, c.want, string(args))
				assert.Empty(t, coercions)
				return
			}
			require.NotNil(t, fault)
			assert.Nil(t, args)
			assert.Equal(t, c.reason, fault.Reason)
			assert.Equal(t, c.offset, fault.Offset)
			text := fault.Text("acme.tool", s)
			assert.LessOrEqual(t, len([]rune(text)), 4000)
			assert.NotContains(t, text, "\x01")
			assert.Contains(t, text, "acme.tool")
		})
	}
}

func TestDuplicateKeysAreFoundInLongObjects(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"k0":0`)
	for i := 1; i < 50; i++ {
		b.WriteString(`,"k` + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `":0`)
	}
	s := compile(t, `{}`)
	_, _, fault := s.Check(b.String() + "}")
	require.Nil(t, fault)
	_, _, fault = s.Check(b.String() + `,"k0":1}`)
	require.NotNil(t, fault)
	assert.Equal(t, schema.DuplicateKey, fault.Reason)
	assert.Equal(t, b.Len()+1, fault.Offset)
}

// TOOL-15, FIELD-E6: what is coerced, and what is not.
func TestLosslessCoercion(t *testing.T) {
	s := compile(t, `{"type":"object","additionalProperties":false,"properties":{
		"n":{"type":"integer"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"integer"}},"s":{"type":"string"},
		"o":{"type":["string","null"]},"f":{"type":"number"},"z":{"type":"null"},"m":{"type":"object","additionalProperties":{"type":"integer"}},
		"either":{"anyOf":[{"type":"integer"},{"type":"boolean"}]},
		"both":{"allOf":[{"type":["integer","string"]},{"$ref":"#/$defs/whole"}]},
		"p":{"prefixItems":[{"type":"boolean"}],"items":{"type":"null"}}},
		"patternProperties":{"^x_":{"type":"integer"}},
		"$defs":{"whole":{"type":"number"}}}`)
	type rules = []tool.Coercion
	one := func(pointer, rule string) rules { return rules{{Pointer: pointer, Rule: rule}} }
	taken := []struct {
		text, want string
		rules      rules
	}{
		{`{"n":"5"}`, `{"n":5}`, one("/n", "integerFromString")},
		{`{"n":" 12"}`, `{"n":12}`, one("/n", "integerFromString")},
		{`{"n":"+3"}`, `{"n":3}`, one("/n", "integerFromString")},
		{`{"n":"-0"}`, `{"n":0}`, one("/n", "integerFromString")},
		{`{"n":"9223372036854775807"}`, `{"n":9223372036854775807}`, one("/n", "integerFromString")},
		{`{"n":5.0}`, `{"n":5}`, one("/n", "integerNotation")},
		{`{"n":50e-1}`, `{"n":5}`, one("/n", "integerNotation")},
		{`{"n":1e30}`, `{"n":1e30}`, nil},
		{`{"f":5.0}`, `{"f":5.0}`, nil},
		{`{"f":"+1.5e2"}`, `{"f":1.5e2}`, one("/f", "numberFromString")},
		{`{"f":" 5 "}`, `{"f":5}`, one("/f", "numberFromString")},
		{`{"b":"True"}`, `{"b":true}`, one("/b", "booleanFromString")},
		{`{"b":"FALSE"}`, `{"b":false}`, one("/b", "booleanFromString")},
		{`{"z":"null"}`, `{"z":null}`, one("/z", "nullFromString")},
		{`{"l":"[1,2]"}`, `{"l":[1,2]}`, one("/l", "jsonFromString")},
		{`{"l":" [ \"1\" ]"}`, `{"l":[1]}`, rules{{Pointer: "/l", Rule: "jsonFromString"}, {Pointer: "/l/0", Rule: "integerFromString"}}},
		{`{"m":"{\"a\":1}"}`, `{"m":{"a":1}}`, one("/m", "jsonFromString")},
		{`{"m":{"a/b":"1"}}`, `{"m":{"a/b":1}}`, one("/m/a~1b", "integerFromString")},
		{`{"n":null}`, `{}`, one("/n", "nullDropped")},
		{`{"s":"a","n":null,"b":true}`, `{"s":"a","b":true}`, one("/n", "nullDropped")},
		{`{"o":null}`, `{"o":null}`, nil},
		{`{"both":"7"}`, `{"both":7}`, one("/both", "integerFromString")},
		{`{"x_1":"7"}`, `{"x_1":7}`, one("/x_1", "integerFromString")},
		{`{"p":["true","null"]}`, `{"p":[true,null]}`, rules{{Pointer: "/p/0", Rule: "booleanFromString"}, {Pointer: "/p/1", Rule: "nullFromString"}}},
		{`"{\"n\":\"5\"}"`, `{"n":5}`, rules{{Rule: "jsonFromString"}, {Pointer: "/n", Rule: "integerFromString"}}},
		{`"{\"n\":5}"`, `{"n":5}`, one("", "jsonFromString")},
	}
	for _, c := range taken {
		args, coercions, fault := s.Check(c.text)
		if assert.Nil(t, fault, c.text) {
			assert.Equal(t, c.want, string(args), c.text)
			assert.Equal(t, c.rules, coercions, c.text)
		}
	}
	refused := []string{
		`{"n":"5x"}`, `{"n":"007"}`, `{"n":"1e3"}`, `{"n":"5.0"}`, `{"n":1.5}`, `{"b":"1"}`, `{"b":"yes"}`, `{"b":"tRUE"}`, `{"l":1}`, `{"s":42}`,
		`{"new":1}`, `{"n":"0x10"}`, `{"n":"1_000"}`, `{"n":""}`, `{"n":"9223372036854775808"}`, `{"f":"NaN"}`, `{"f":"Infinity"}`, `{"f":"1e999"}`,
		`{"f":"+-1"}`, `{"z":"NULL"}`, `{"l":"[1,2] x"}`, `{"l":"{}"}`, `{"l":"[1,1.5]"}`, `{"s":true}`, `{"either":"5"}`, `{"l":[null]}`, `{"n":"5","new":1}`,
	}
	for _, text := range refused {
		args, coercions, fault := s.Check(text)
		if assert.NotNil(t, fault, text) {
			assert.Nil(t, args)
			assert.Nil(t, coercions)
			assert.Equal(t, schema.Unsatisfied, fault.Reason, text)
			assert.NotEmpty(t, fault.Errors)
		}
	}
}

// TOOL-15, FIELD-E6: errors speak of the value as it came, and of its place.
func TestErrorsSpeakOfTheValueAsItCame(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"count":{"type":"integer"},"k":{"enum":["a","b"]}},"required":["count"],"additionalProperties":false}`)
	_, _, fault := s.Check(`{"k":"c","count":"5x","more":1}`)
	require.NotNil(t, fault)
	assert.Equal(t, []schema.Violation{
		{Pointer: "/k", Schema: "/properties/k/enum", Keyword: "enum", Text: `has to be one of "a", "b", not "c"`},
		{Pointer: "/count", Schema: "/properties/count/type", Keyword: "type", Text: `has to be integer, not "5x"`},
		{Pointer: "/more", Schema: "/additionalProperties", Keyword: "additionalProperties", Text: "is not allowed here"},
	}, fault.Errors)
	_, _, fault = s.Check(`{}`)
	require.NotNil(t, fault)
	assert.Equal(t, []schema.Violation{
		{Schema: "/required", Keyword: "required", Text: `lacks the property "count"`},
	}, fault.Errors)
	assert.Equal(t, "acme: the arguments do not fit the schema.\n- (root) lacks the property \"count\" (required)\nSchema: "+string(s.JSON()),
		fault.Text("acme", s))
}

// FIELD-J5: what is quoted from arguments is bounded, cut between characters, and escaped.
func TestQuotedArgumentsAreBounded(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`)
	items := make([]string, 60)
	for i := range items {
		items[i] = `"` + strings.Repeat("語", 300) + `\u0007"`
	}
	_, _, fault := s.Check(`{"a":[` + strings.Join(items, ",") + `]}`)
	require.NotNil(t, fault)
	assert.Len(t, fault.Errors, 20)
	quoted := 0
	for _, v := range fault.Errors {
		n := strings.Count(v.Text, "語")
		assert.LessOrEqual(t, n, 200)
		quoted += n + len([]rune(v.Pointer))
		assert.NotContains(t, v.Text, "\uFFFD")
		assert.NotContains(t, v.Text, "\a")
	}
	assert.LessOrEqual(t, quoted, 800)
	assert.LessOrEqual(t, len([]rune(fault.Text(strings.Repeat("n", 500), s))), 4000)
}

func TestTextIsBoundedWithALongSchema(t *testing.T) {
	s := compile(t, `{"description":"`+strings.Repeat("ü", 9000)+`","required":["x"]}`)
	_, _, fault := s.Check(`{}`)
	require.NotNil(t, fault)
	text := fault.Text("t", s)
	assert.LessOrEqual(t, len([]rune(text)), 4000)
	assert.True(t, strings.HasSuffix(text, "ü…"))
}

func TestValidArgumentsShareNoMemory(t *testing.T) {
	s := compile(t, `{}`)
	text := `{"a":1}`
	args, _, fault := s.Check(text)
	require.Nil(t, fault)
	args[1] = 'X'
	assert.Equal(t, `{"a":1}`, text)
}

const small = `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":1},"all":{"type":"boolean"}},"required":["path"],"additionalProperties":false}`

func TestSmallArgumentsAllocateTheirCopyOnly(t *testing.T) {
	s := compile(t, small)
	least := 1e9
	for range 50 { // pools give less back while races are looked for
		least = min(least, testing.AllocsPerRun(1, func() {
			if _, _, fault := s.Check(`{"path":"src/main.go","limit":20,"all":true}`); fault != nil {
				t.Error(fault)
			}
		}))
	}
	assert.LessOrEqual(t, least, 1.0)
}

func BenchmarkCheckSmall(b *testing.B) {
	s := compile(b, small)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, fault := s.Check(`{"path":"src/main.go","limit":20,"all":true}`); fault != nil {
			b.Fatal(fault)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(json.RawMessage(small)); err != nil {
			b.Fatal(err)
		}
	}
}
