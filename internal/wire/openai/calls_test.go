package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func told(t *testing.T, payloads ...string) string {
	t.Helper()
	return wiretest.Told(t, func(s *wiretest.Server) model.Client { return client(t, s) }, "text/event-stream", payloads...)
}

// delta is a chunk with that delta, finish the one that ends the answer.
func delta(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }

func finish(word string) string { return `{"choices":[{"delta":{},"finish_reason":"` + word + `"}]}` }

// The table of fragments: one row each.
func TestFragmentsOfCalls(t *testing.T) {
	for name, test := range map[string]struct {
		fragments []string
		want      string
	}{
		"known index, same id": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read","arguments":"{"}}`, `{"index":0,"id":"c1","function":{"arguments":"}"}}`},
			"call c1 read {}",
		},
		"known index, blank id": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read","arguments":"{"}}`, `{"index":0,"id":"","function":{"arguments":"}"}}`},
			"call c1 read {}",
		},
		"the id comes late": {
			[]string{`{"index":0,"function":{"name":"read","arguments":"{\"a\":"}}`, `{"index":0,"id":"c1","function":{"arguments":"1}"}}`},
			`call c1 read {"a":1}`,
		},
		"known index, another id with a name": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read"}}`, `{"index":0,"id":"c2","function":{"name":"list","arguments":"{}"}}`},
			"call c1 read {}\ncall c2 list {}",
		},
		"known index, another id after arguments": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"}}`, `{"index":0,"id":"c2","function":{"arguments":"{\"b\":2}"}}`},
			"call c1 read {}\ncall c2  {\"b\":2}",
		},
		"the id in fragments": {
			[]string{`{"index":0,"id":"call_"}`, `{"index":0,"id":"9","function":{}}`, `{"index":0,"function":{"name":"read","arguments":"{}"}}`},
			"call call_9 read {}",
		},
		"a new index with neither id nor name, two open": {
			[]string{
				`{"index":0,"id":"c1","function":{"name":"read"}}`, `{"index":1,"id":"c2","function":{"name":"read"}}`,
				`{"index":7,"function":{"arguments":"{}"}}`,
			},
			"error example: provider_stream_invalid: a fragment belongs to no call",
		},
		"a new index with neither, none open": {
			[]string{`{"index":3,"function":{"arguments":"{}"}}`, `{"index":3,"id":"c1","function":{"name":"read"}}`},
			"call c1 read {}",
		},
		"no index, no id, no name, none open": {
			[]string{`{"function":{"arguments":"{}"}}`},
			"error example: provider_stream_invalid: a fragment belongs to no call",
		},
		"no index, the id again": {
			[]string{`{"id":"c1","function":{"name":"read","arguments":"{"}}`, `{"id":"c1","function":{"arguments":"}"}}`},
			"call c1 read {}",
		},
		"the name again, equal": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read"}}`, `{"index":0,"function":{"name":"read","arguments":"{}"}}`},
			"call c1 read {}",
		},
		"the name in fragments": {
			[]string{`{"index":0,"id":"c1","function":{"name":"re"}}`, `{"index":0,"function":{"name":"ad"}}`, `{"index":0,"function":{"name":null,"arguments":"{}"}}`},
			"call c1 read {}",
		},
		"another name after arguments": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read","arguments":"{"}}`, `{"index":0,"function":{"name":"x","arguments":"}"}}`},
			"call c1 read {}",
		},
		"arguments as an object": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read","arguments":{"path":"a"}}}`},
			`call c1 read {"path":"a"}`,
		},
		"an empty object before fragments": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read","arguments":{}}}`, `{"index":0,"function":{"arguments":"{\"a\":1}"}}`},
			`call c1 read {"a":1}`,
		},
		"an object and fragments": {
			[]string{`{"index":0,"id":"c1","function":{"name":"read","arguments":{"path":"a"}}}`, `{"index":0,"function":{"arguments":"{}"}}`},
			"error example: provider_stream_invalid: arguments came as an object and as fragments",
		},
		"blank arguments": { // FIELD-F4
			[]string{`{"index":0,"id":"c1","function":{"name":"read","arguments":""}}`},
			"call c1 read {}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var payloads []string
			for _, f := range test.fragments {
				payloads = append(payloads, delta(`{"tool_calls":[`+f+`]}`))
			}
			got := told(t, append(payloads, finish("tool_calls"), "[DONE]")...)
			want := test.want
			if !strings.HasPrefix(want, "error") {
				want += "\nfinish tool_calls tool_calls"
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestCallsKeepTheirPlace(t *testing.T) {
	assert.Equal(t, "text \"a\"\ncall c1 one {}\ntext \"b\"\ncall c2 two {}\nfinish tool_calls stop", told(t,
		delta(`{"content":"a"}`), delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"one"}}]}`), delta(`{"content":"b"}`),
		delta(`{"tool_calls":[{"index":1,"id":"c2","function":{"name":"two","arguments":"{}"}}]}`), finish("stop")))
	assert.Equal(t, "call c1 one {}\ncall c2 two {}\nfinish tool_calls stop", told(t,
		delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"one"}}]}`),
		delta(`{"tool_calls":[{"index":1,"id":"c2","function":{"name":"two","arguments":"{}"}}]}`), finish("stop")))
}

func TestACallWithoutAnIDGetsOne(t *testing.T) {
	got := told(t, delta(`{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{}"}}]}`), finish("tool_calls"))
	assert.Regexp(t, `^call call_[0-9a-f]{32} read {}\nfinish`, got)
}

func TestWhatADeltaSays(t *testing.T) {
	for name, test := range map[string]struct {
		payloads []string
		want     string
	}{
		"text and a call at once": {
			[]string{delta(`{"content":"x","tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"}}]}`), finish("tool_calls")},
			"text \"x\"\ncall c1 read {}\nfinish tool_calls tool_calls",
		},
		"text in parts":      {[]string{delta(`{"content":[{"type":"text","text":"a"},{"type":"x"},{"text":"b"}]}`), finish("stop")}, "text \"ab\"\nfinish stop stop"},
		"reasoning":          {[]string{delta(`{"reasoning":"r","reasoning_content":" "}`), finish("stop")}, "reasoning text \"r\"\nfinish stop stop"},
		"reasoning content":  {[]string{delta(`{"reasoning":"r","reasoning_content":"c"}`), finish("stop")}, "reasoning text \"c\"\nfinish stop stop"},
		"a refusal":          {[]string{delta(`{"refusal":"no"}`), finish("stop")}, "text \"no\"\nfinish content_filter stop"},
		"the old call":       {[]string{delta(`{"function_call":{"name":"read","arguments":"{}"}}`), finish("function_call")}, "call"},
		"other choices":      {[]string{`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}},{"delta":{"content":"no"},"index":2}]}`, finish("stop")}, "text \"yes\"\nfinish stop stop"},
		"a blank reason":     {[]string{`{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}`, delta(`{"content":"b"}`), finish("stop")}, "text \"ab\"\nfinish stop stop"},
		"text after the end": {[]string{finish("stop"), delta(`{"content":"late"}`)}, "finish stop stop"},
		"an empty reply":     {[]string{finish("stop")}, "finish stop stop"},
		"calls promised":     {[]string{delta(`{"content":"a"}`), finish("tool_calls")}, "text \"a\"\nfinish stop tool_calls"},
		"filtered":           {[]string{delta(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"x","arguments":"{}"}}]}`), finish("content_filter")}, "finish content_filter content_filter"},
		"usage": {
			[]string{finish("stop"), `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}}`, `{"usage":null}`},
			"usage in=9 out=5 reasoning=3 cached=4 written=0 total=14\nfinish stop stop",
		},
		"usage in a choice": {
			[]string{`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop","usage":{"prompt_tokens":9,"prompt_cache_hit_tokens":8}}]}`},
			"text \"a\"\nusage in=9 out=0 reasoning=0 cached=8 written=0 total=0\nfinish stop stop",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := told(t, test.payloads...)
			if test.want == "call" {
				assert.Regexp(t, `^call call_[0-9a-f]{32} read {}\nfinish tool_calls function_call$`, got)
				return
			}
			assert.Equal(t, test.want, got)
		})
	}
}
