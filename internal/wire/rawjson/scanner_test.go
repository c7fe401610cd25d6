package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/rawjson"
)

func TestValidAgreesWithTheStandardLibrary(t *testing.T) {
	texts := []string{
		`{}`, `[]`, `{"a":1}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{"a" 1}`, `{"a":}`, `{,}`, `[,]`, `"x`, `"x"`, `nul`, `null`, `true`,
		`falsey`, `-`, `-1`, `01`, `1.`, `1.5e+3`, `1e`, `{"a":{"b":[1,{"c":null}]}}`, `{} {}`, ` {"a" : [ ] } `, ``, ` `, `"\"`,
		`"\\"`, `{"a":"b\"c"}`, `[[[]]]`, `[[[]]`, `{"a":1]`, `[1}`, `]`, `}`, `:`, `{"a":1 "b":2}`,
	}
	for _, text := range texts {
		assert.Equal(t, json.Valid([]byte(text)), rawjson.Valid([]byte(text)), text)
	}
}

func TestScannerReadsWhatIsAskedFor(t *testing.T) {
	var s rawjson.Scanner
	s.Reset([]byte(`{"skip":{"a":[1,2,{"b":"}"}]},"text":"a\u00e9\ud83d\ude42\n","n":12.9,"list":[1,null,"x"],"t":true,"n\u0061me":"y"}`))
	var text, name string
	var n int
	var list []rawjson.Kind
	var flag bool
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "text":
			text = s.Text()
		case "n":
			n, _ = s.Int()
		case "list":
			for s.Array(); s.Next(); {
				list = append(list, s.Kind())
				s.Skip()
			}
		case "t":
			flag = s.Bool()
		case "name":
			name = s.Text()
		default:
			s.Skip()
		}
	}
	require.NoError(t, s.End())
	assert.Equal(t, "aé🙂\n", text)
	assert.Equal(t, "y", name)
	assert.Equal(t, 12, n)
	assert.True(t, flag)
	assert.Equal(t, []rawjson.Kind{rawjson.Number, rawjson.Null, rawjson.String}, list)
}

func TestValuesOfAnotherKindReadAsBlank(t *testing.T) {
	var s rawjson.Scanner
	s.Reset([]byte(`{"a":null,"b":3,"c":"x","d":[],"e":7}`))
	last := 0
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "a":
			for s.Object(); s.Next(); {
				t.Error("null has members")
			}
		case "b":
			assert.Equal(t, "", s.Text())
		case "c":
			_, ok := s.Int()
			assert.False(t, ok)
		case "d":
			for s.Object(); s.Next(); {
				t.Error("an array has members")
			}
		case "e":
			last, _ = s.Int()
		}
	}
	require.NoError(t, s.End())
	assert.Equal(t, 7, last)
}

func TestDeepNestingIsRefusedAndNotFollowed(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	assert.False(t, rawjson.Valid([]byte(deep)))
	var s rawjson.Scanner
	s.Reset([]byte(deep))
	for s.Array(); s.Next(); s.Array() {
	}
	require.ErrorIs(t, s.End(), rawjson.ErrSyntax)
}

func TestHalvesOfSurrogatePairsBecomeReplacementCharacters(t *testing.T) { // FIELD-K2
	for raw, want := range map[string]string{
		`"a\ud82db"`: "a\uFFFDb", `"\ude42"`: "\uFFFD", `"\ud83d\u0041"`: "\uFFFDA", `"\ud83d\ud83d\ude42"`: "\uFFFD🙂",
		"\"\xff\xfe\"": "\uFFFD\uFFFD", `"\ud83d"`: "\uFFFD", `"\ux"`: `\ux`, `"\é"`: `\é`,
	} {
		var s rawjson.Scanner
		s.Reset([]byte(raw))
		assert.Equal(t, want, s.Text(), raw)
		assert.NoError(t, s.End(), raw)
	}
}

func TestAppendStringIsReadBackByTheStandardLibrary(t *testing.T) {
	for _, text := range []string{"", "a", "\"\\\n\r\t\x00\x1f", "é🙂\u2028", "a\xffb", strings.Repeat("x\n", 100)} {
		var got string
		require.NoError(t, json.Unmarshal(rawjson.AppendString(nil, text), &got))
		assert.Equal(t, strings.ToValidUTF8(text, "\uFFFD"), got)
	}
}

func TestAppendValidMendsOnlyHalves(t *testing.T) { // FIELD-K1
	for raw, want := range map[string]string{
		`{"a":"\ud83d"}`:       `{"a":"\ufffd"}`,
		`{"a":"\ud83d\ude42"}`: `{"a":"\ud83d\ude42"}`,
		`{"a":"\\ud83d"}`:      `{"a":"\\ud83d"}`,
		`{"a":"\u0041\n"}`:     `{"a":"\u0041\n"}`,
		`{"a": "\ude42x"}`:     `{"a": "\ufffdx"}`,
	} {
		assert.Equal(t, want, string(rawjson.AppendValid(nil, []byte(raw))))
	}
}

func TestScanningAllocatesNothingButStrings(t *testing.T) {
	data := []byte(`{"id":"x","choices":[{"delta":{"content":"hello"}}],"usage":{"n":1}}`)
	var s rawjson.Scanner
	allocs := testing.AllocsPerRun(100, func() {
		s.Reset(data)
		for s.Object(); s.Next(); {
			s.Skip()
		}
	})
	assert.Zero(t, allocs)
}

func FuzzScanner(f *testing.F) {
	for _, text := range []string{`{"a":[1,"b\u00e9",{"c":null}]}`, `[`, `"\ud83d"`, `1e5`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		open := strings.Count(string(data), "[") + strings.Count(string(data), "{")
		if open < 500 && json.Valid(data) && !rawjson.Valid(data) { // deeper nesting is refused on purpose
			t.Fatalf("valid JSON was refused: %q", data)
		}
		var s rawjson.Scanner
		s.Reset(data)
		if s.Kind() == rawjson.String {
			var want string
			if json.Unmarshal(data, &want) == nil {
				if got := s.Text(); got != want {
					t.Fatalf("%q reads as %q instead of %q", data, got, want)
				}
			}
		}
	})
}
