package ollama_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func TestWhatTheLinesSay(t *testing.T) {
	create := func(s *wiretest.Server) model.Client { return client(t, s) }
	for name, test := range map[string]struct {
		contentType string
		lines       []string
		want        string
	}{
		"a call in the last line": {
			"application/x-ndjson",
			[]string{`{"message":{"content":"x","tool_calls":[{"id":"c1","function":{"name":"read","arguments":{"a":1}}}]},"done":true,"done_reason":"stop"}`},
			"text \"x\"\ncall c1 read {\"a\":1}\nfinish tool_calls stop",
		},
		"arguments as text": {
			"application/x-ndjson",
			[]string{`{"message":{"tool_calls":[{"id":"c1","function":{"name":"read","arguments":"{\"a\":1}"}},{"id":"c2","function":{"name":"now","arguments":null}}]}}`, `{"done":true}`},
			"call c1 read {\"a\":1}\ncall c2 now {}\nfinish tool_calls",
		},
		"cut short":     {"application/x-ndjson", []string{`{"message":{"content":"x"}}`, `{"done":true,"done_reason":"length"}`}, "text \"x\"\nfinish length length"},
		"loading":       {"application/x-ndjson", []string{`{"done":true,"done_reason":"load"}`}, "error example: provider_http load: the server was loading the model and did not answer; try again"},
		"other reasons": {"application/x-ndjson", []string{`{"message":{"content":"x"}}`, `{"done":true,"done_reason":"unload"}`}, "text \"x\"\nfinish other unload"},
		"no JSON":       {"application/x-ndjson", []string{`{"message":{"content":"x"}}`, `oops`}, "error example: provider_stream_invalid: an event of the stream is not JSON: \"oops\""},
		"a whole answer": {
			"application/json",
			[]string{`{"message":{"content":"x","thinking":"t"},`, `"done":true,"prompt_eval_count":3,"eval_count":4}`},
			"reasoning text \"t\"\ntext \"x\"\nusage in=3 out=4 reasoning=0 cached=0 written=0 total=7\nfinish stop",
		},
		"lines as JSON": {"application/json", []string{`{"message":{"content":"x"}}`, `{"done":true}`}, "text \"x\"\nfinish stop"},
		"an object over lines, and half of one": {
			"application/json", []string{`{"message":`, `{"content":"x"}}`, `{"done":`}, "error example: provider_stream_invalid: an event of the stream is not JSON: \"{\\\"done\\\":\\n\"",
		},
		"lines of no type":    {"", []string{`{"message":{"content":"x"}}`, `{"done":true}`}, "text \"x\"\nfinish stop"},
		"text before the end": {"", []string{`<html>`}, "error example: provider_stream_invalid: the answer is a web page: \"<html>\\n\""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, wiretest.Told(t, create, test.contentType, test.lines...))
		})
	}
}

// A proxy that calls the stream one JSON value does not hold it up.
func TestLinesAreReadAsTheyCome(t *testing.T) {
	s := wiretest.Serve(func(int) wiretest.Answer {
		a := wiretest.Text(200, "application/json", `{"message":{"content":"x"}}`+"\n"+`{"done":true}`+"\n")
		a.Hold = true
		return a
	})
	r, _, err := wiretest.Round(t, client(t, s), wiretest.Request())
	if assert.NoError(t, err) {
		assert.Equal(t, "text \"x\"\nfinish stop", wiretest.Tell(r))
	}
}
