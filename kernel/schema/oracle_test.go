package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/kernel/schema"
)

// names are few, so that schemas and instances meet.
var names = rapid.SampledFrom([]string{"a", "b", "c", "x_1", "x_2"})

func scalar() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny[bool]), rapid.Map(rapid.IntRange(-3, 12), toAny[int]),
		rapid.Map(rapid.SampledFrom([]float64{0.5, 1.5, 2, -1, 100}), toAny[float64]),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "5", "true", "null", "é語", "abcdef", "[1]", "{}"}), toAny[string]),
	)
}

func toAny[T any](v T) any { return v }

func instance(depth int) *rapid.Generator[any] {
	if depth == 0 {
		return scalar()
	}
	return rapid.OneOf(scalar(),
		rapid.Map(rapid.SliceOfN(instance(depth-1), 0, 4), toAny[[]any]),
		rapid.Map(rapid.MapOfN(names, instance(depth-1), 0, 4), toAny[map[string]any]))
}

// anySchema draws from all keywords that both sides give the same meaning.
func anySchema(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if depth == 0 || rapid.IntRange(0, 9).Draw(t, "leaf") == 0 {
			return rapid.OneOf(rapid.Map(rapid.Bool(), toAny[bool]), rapid.Map(rapid.SampledFrom([]map[string]any{
				{"type": "integer"}, {"type": "string"}, {"type": []any{"null", "boolean"}}, {"$ref": "#/$defs/shared"}, {},
			}), toAny[map[string]any])).Draw(t, "leaf schema")
		}
		sub := anySchema(depth - 1)
		list := rapid.Map(rapid.SliceOfN(sub, 1, 3), toAny[[]any])
		count := rapid.Map(rapid.IntRange(0, 3), toAny[int])
		number := rapid.Map(rapid.IntRange(-2, 5), toAny[int])
		keywords := map[string]*rapid.Generator[any]{
			"type": rapid.Map(rapid.SampledFrom([]string{"null", "boolean", "integer", "number", "string", "array", "object"}), toAny[string]),
			"enum": rapid.Map(rapid.SliceOfN(scalar(), 1, 3), toAny[[]any]), "const": scalar(),
			"allOf": list, "anyOf": list, "oneOf": list, "not": sub, "if": sub, "then": sub, "else": sub,
			"minimum": number, "maximum": number, "exclusiveMinimum": number, "exclusiveMaximum": number,
			"multipleOf": rapid.Map(rapid.IntRange(1, 4), toAny[int]),
			"minLength":  count, "maxLength": count, "pattern": rapid.Map(rapid.SampledFrom([]string{"^a", "5", "é", "[^x]{2}"}), toAny[string]),
			"minItems": count, "maxItems": count, "uniqueItems": rapid.Map(rapid.Bool(), toAny[bool]),
			"prefixItems": list, "items": sub, "contains": sub, "minContains": count, "maxContains": count,
			"minProperties": count, "maxProperties": count, "propertyNames": sub, "additionalProperties": sub,
			"required":          rapid.Map(rapid.SliceOfNDistinct(names, 0, 3, rapid.ID[string]), toAny[[]string]),
			"properties":        rapid.Map(rapid.MapOfN(names, sub, 1, 3), toAny[map[string]any]),
			"patternProperties": rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"^x_", "b|c"}), sub, 1, 2), toAny[map[string]any]),
			"dependentRequired": rapid.Map(rapid.MapOfN(names, rapid.SliceOfNDistinct(names, 0, 2, rapid.ID[string]), 1, 2), toAny[map[string][]string]),
			"dependentSchemas":  rapid.Map(rapid.MapOfN(names, sub, 1, 2), toAny[map[string]any]),
			"unevaluatedItems":  sub, "unevaluatedProperties": sub,
		}
		order := make([]string, 0, len(keywords))
		for _, k := range keywordOrder {
			if keywords[k] != nil {
				order = append(order, k)
			}
		}
		out := map[string]any{}
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom(order), 1, 4, rapid.ID[string]).Draw(t, "keywords") {
			out[k] = keywords[k].Draw(t, k)
		}
		return out
	})
}

// keywordOrder makes the draws repeatable: the order of a map is not.
var keywordOrder = []string{
	"type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "prefixItems", "items", "contains", "minContains",
	"maxContains", "minProperties", "maxProperties", "propertyNames", "additionalProperties", "required", "properties", "patternProperties",
	"dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties",
}

// Another validator gives the same verdict on everything that it can express.
func TestVerdictIsThatOfAnotherValidator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := map[string]any{
			"type":       "object",
			"properties": map[string]any{"a": anySchema(3).Draw(t, "schema"), "b": anySchema(2).Draw(t, "other schema")},
			"$defs":      map[string]any{"shared": map[string]any{"type": []any{"integer", "array"}, "minItems": 1}},
		}
		raw, err := json.Marshal(root)
		require.NoError(t, err)
		ours, err := schema.Compile(raw)
		require.NoError(t, err, string(raw))
		var theirs jsonschema.Schema
		require.NoError(t, json.Unmarshal(raw, &theirs))
		resolved, err := theirs.Resolve(nil)
		require.NoError(t, err, string(raw))
		for range 4 {
			value := map[string]any{"a": instance(3).Draw(t, "value"), "b": instance(2).Draw(t, "other value")}
			text, err := json.Marshal(value)
			require.NoError(t, err)
			var plain any
			require.NoError(t, json.Unmarshal(text, &plain))
			found := ours.Validate(text)
			if want := resolved.Validate(plain); (want == nil) != (len(found) == 0) {
				t.Fatalf("schema %s\ninstance %s\nours: %v\ntheirs: %v", raw, text, found, want)
			}
		}
	})
}

// Whatever is drawn, what Check lets through is valid as it stands, and stays what it is.
func TestCheckedArgumentsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(map[string]any{
			"properties": map[string]any{"a": anySchema(3).Draw(t, "schema")},
			"$defs":      map[string]any{"shared": map[string]any{"type": "integer"}},
		})
		require.NoError(t, err)
		s, err := schema.Compile(raw)
		require.NoError(t, err, string(raw))
		text, err := json.Marshal(map[string]any{"a": instance(3).Draw(t, "value")})
		require.NoError(t, err)
		valid := len(s.Validate(text)) == 0
		args, coercions, fault := s.Check(string(text))
		if fault != nil {
			require.False(t, valid, "%s\n%s", raw, text)
			return
		}
		require.Empty(t, s.Validate(args), "%s\n%s\n%s", raw, text, args)
		if valid && len(coercions) == 0 {
			require.Equal(t, string(text), string(args))
		}
		again, more, fault := s.Check(string(args))
		require.Nil(t, fault)
		require.Empty(t, more)
		require.Equal(t, string(args), string(again))
	})
}

func FuzzCheck(f *testing.F) {
	f.Add(small, `{"path":"a","limit":"5"}`)
	f.Add(`{"properties":{"a":{"anyOf":[{"type":"integer"},{"pattern":"^x"}]}},"unevaluatedProperties":false}`, `{"a":"\ud83d\ude00","b":[1e5]}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"a":{"$ref":"#"}}}}}`, `"{\"a\":{}}"`)
	f.Fuzz(func(t *testing.T, raw, text string) {
		s, err := schema.Compile(json.RawMessage(raw))
		if err != nil {
			return
		}
		if !json.Valid(s.JSON()) {
			t.Fatalf("the admitted schema is no JSON: %s", s.JSON())
		}
		args, _, fault := s.Check(text)
		if fault != nil {
			if n := len([]rune(fault.Text("t", s))); n > 4000 {
				t.Fatalf("a text of %d characters", n)
			}
			return
		}
		if !json.Valid(args) || len(s.Validate(args)) > 0 {
			t.Fatalf("arguments that are not valid: %s", args)
		}
	})
}
