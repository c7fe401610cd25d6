package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func told(t *testing.T, payloads ...string) string {
	t.Helper()
	return wiretest.Told(t, func(s *wiretest.Server) model.Client { return client(t, s) }, "text/event-stream", payloads...)
}

func start(index, block string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
}

func delta(index, d string) string {
	return `{"type":"content_block_delta","index":` + index + `,"delta":` + d + `}`
}

func stop(index string) string { return `{"type":"content_block_stop","index":` + index + `}` }

func end(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}`
}

const over = `{"type":"message_stop"}`

func TestWhatTheEventsSay(t *testing.T) {
	for name, test := range map[string]struct {
		payloads []string
		want     string
	}{
		"signed reasoning": {
			[]string{
				start("0", `{"type":"thinking","thinking":"a","signature":""}`), delta("0", `{"type":"thinking_delta","thinking":"b"}`),
				delta("0", `{"type":"signature_delta","signature":"si"}`), delta("0", `{"type":"signature_delta","signature":"gn"}`), stop("0"),
				start("1", `{"type":"thinking"}`), delta("1", `{"type":"thinking_delta","thinking":"c"}`), stop("1"),
				start("2", `{"type":"text","text":"t"}`), stop("2"), end("end_turn"), over,
			},
			"reasoning text \"ab\" {sign}\nreasoning text \"c\" {unsigned}\ntext \"t\"\nfinish stop end_turn",
		},
		"reasoning that is kept back": {
			[]string{start("0", `{"type":"redacted_thinking","data":"x"}`), stop("0"), start("1", `{"type":"redacted_thinking","data":"y"}`), stop("1"), end("end_turn"), over},
			"reasoning {{\"type\":\"redacted_thinking\",\"data\":\"x\"}}\nreasoning {{\"type\":\"redacted_thinking\",\"data\":\"y\"}}\nfinish stop end_turn",
		},
		"a signature without text": {
			[]string{start("0", `{"type":"thinking","thinking":""}`), delta("0", `{"type":"signature_delta","signature":"s"}`), stop("0"), end("end_turn"), over},
			"reasoning {s}\nfinish stop end_turn",
		},
		"input in the start": {
			[]string{start("0", `{"type":"tool_use","id":"t1","name":"read","input":{"a":1}}`), stop("0"), end("tool_use"), over},
			`call t1 read {"a":1}` + "\nfinish tool_calls tool_use",
		},
		"input in both": {
			[]string{start("0", `{"type":"tool_use","id":"t1","name":"read","input":{"a":1}}`), delta("0", `{"type":"input_json_delta","partial_json":"{}"}`), stop("0"), end("tool_use"), over},
			"call t1 read {}\nfinish tool_calls tool_use",
		},
		"blocks that take turns": {
			[]string{
				start("0", `{"type":"tool_use","id":"t1","name":"a"}`), start("1", `{"type":"tool_use","id":"t2","name":"b"}`),
				delta("0", `{"type":"input_json_delta","partial_json":"{\"x\""}`), delta("1", `{"type":"input_json_delta","partial_json":"{}"}`),
				delta("0", `{"type":"input_json_delta","partial_json":":1}"}`), stop("1"), stop("0"), end("tool_use"), over,
			},
			`call t1 a {"x":1}` + "\ncall t2 b {}\nfinish tool_calls tool_use",
		},
		"the end of the body after the reason": {
			[]string{start("0", `{"type":"text"}`), delta("0", `{"type":"text_delta","text":"x"}`), end("end_turn")},
			"text \"x\"\nfinish stop end_turn",
		},
		"text without a start": {[]string{delta("0", `{"type":"text_delta","text":"x"}`), end("end_turn"), over}, "text \"x\"\nfinish stop end_turn"},
		"arguments without a start": {
			[]string{delta("0", `{"type":"input_json_delta","partial_json":"{}"}`)},
			"error example: provider_stream_invalid: arguments of a call that was not started",
		},
		"an unknown block": {
			[]string{start("0", `{"type":"server_tool_use","id":"x","name":"y","input":{}}`), delta("0", `{"type":"input_json_delta","partial_json":"{}"}`), stop("0"), end("pause_turn"), over},
			"finish other pause_turn",
		},
		"cut short":   {[]string{start("0", `{"type":"tool_use","id":"t1","name":"a"}`), end("max_tokens"), over}, "finish length max_tokens"},
		"window full": {[]string{end("model_context_window_exceeded"), over}, "finish context_overflow model_context_window_exceeded"},
		"refused":     {[]string{start("0", `{"type":"text","text":"x"}`), end("refusal"), over}, "text \"x\"\nfinish content_filter refusal"},
		"usage": {
			[]string{
				`{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":20,"output_tokens":1}}}`,
				`{"type":"message_delta","delta":{},"usage":{"output_tokens":5}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":11,"output_tokens":9}}`, over,
			},
			"usage in=34 out=9 reasoning=0 cached=20 written=3 total=43\nfinish stop end_turn",
		},
		"overloaded": {[]string{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, "error example: provider_http overloaded_error: Overloaded"},
		"no end":     {[]string{start("0", `{"type":"text","text":"x"}`)}, "error example: provider_stream_ended: the answer ended before it was whole"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, told(t, test.payloads...)) })
	}
}

func TestAWholeMessage(t *testing.T) {
	got := wiretest.Told(t, func(s *wiretest.Server) model.Client { return client(t, s) }, "application/json",
		`{"type":"message","content":[{"type":"thinking","thinking":"a","signature":"s"},{"type":"text","text":"t"},`+
			`{"type":"tool_use","id":"t1","name":"read","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":2,"output_tokens":3}}`)
	assert.Equal(t, "reasoning text \"a\" {s}\ntext \"t\"\ncall t1 read {\"a\":1}\nusage in=2 out=3 reasoning=0 cached=0 written=0 total=5\nfinish tool_calls tool_use", got)
}
