package responses_test

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

func added(index, item string) string {
	return `{"type":"response.output_item.added","output_index":` + index + `,"item":` + item + `}`
}

func done(index, item string) string {
	return `{"type":"response.output_item.done","output_index":` + index + `,"item":` + item + `}`
}

func delta(kind, at, text string) string {
	return `{"type":"response.` + kind + `.delta",` + at + `,"delta":"` + text + `"}`
}

func completed(output string) string {
	return `{"type":"response.completed","response":{"status":"completed","output":[` + output + `]}}`
}

func TestWhatTheEventsSay(t *testing.T) {
	const call = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":""}`
	for name, test := range map[string]struct {
		payloads []string
		want     string
	}{
		"arguments in fragments": {
			[]string{added("0", call), delta("function_call_arguments", `"item_id":"fc_1","output_index":0`, "{"), delta("function_call_arguments", `"item_id":"fc_1","output_index":0`, "}"), completed("")},
			"call c1 read {}\nfinish tool_calls completed",
		},
		"the end wins": {
			[]string{
				added("0", call), delta("function_call_arguments", `"item_id":"fc_1"`, "{broken"),
				`{"type":"response.function_call_arguments.done","item_id":"fc_1","arguments":"{\"a\":1}"}`, completed(""),
			},
			`call c1 read {"a":1}` + "\nfinish tool_calls completed",
		},
		"the item's end wins over all": {
			[]string{
				added("0", call), `{"type":"response.function_call_arguments.done","item_id":"fc_1","arguments":"{\"a\":1}"}`,
				done("0", `{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{\"a\":2}"}`), completed(""),
			},
			`call c1 read {"a":2}` + "\nfinish tool_calls completed",
		},
		"fragments before their item": {
			[]string{delta("function_call_arguments", `"item_id":"fc_1","output_index":0`, "{}"), added("0", call), completed("")},
			"call c1 read {}\nfinish tool_calls completed",
		},
		"an item only at the end": {
			[]string{completed(`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"e"},` +
				`{"type":"message","id":"m","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","id":"f","call_id":"c1","name":"read","arguments":"{}"}`)},
			"reasoning summary \"why\" {{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"why\"}],\"encrypted_content\":\"e\"}}\ntext \"hi\"\ncall c1 read {}\nfinish tool_calls completed",
		},
		"an item again at the end": {
			[]string{added("0", call), done("0", call), completed(call)},
			"call c1 read {}\nfinish tool_calls completed",
		},
		"segments of reasoning": {
			[]string{
				delta("reasoning_summary_text", `"item_id":"r1","output_index":0,"summary_index":0`, "a"),
				delta("reasoning_summary_text", `"item_id":"r1","output_index":0,"summary_index":1`, "b"),
				delta("reasoning_text", `"item_id":"r1","output_index":0,"content_index":0`, "c"),
				done("0", `{"type":"reasoning","id":"r1"}`),
				delta("reasoning_summary_text", `"item_id":"r2","output_index":1,"summary_index":0`, "d"),
				done("1", `{"type":"reasoning","id":"r2","encrypted_content":"e"}`),
				done("2", `{"type":"reasoning","id":"r3","encrypted_content":"f"}`), completed(""),
			},
			"reasoning summary \"a\" summary \"b\" text \"c\" {unsigned}\nreasoning summary \"d\" {{\"type\":\"reasoning\",\"id\":\"r2\",\"encrypted_content\":\"e\"}}\n" +
				"reasoning {{\"type\":\"reasoning\",\"id\":\"r3\",\"encrypted_content\":\"f\"}}\nfinish stop completed",
		},
		"a refusal":    {[]string{delta("refusal", `"item_id":"m"`, "no"), completed("")}, "text \"no\"\nfinish content_filter completed"},
		"unknown":      {[]string{`{"type":"response.from.the.future","x":1}`, delta("output_text", `"item_id":"m"`, "t"), completed("")}, "text \"t\"\nfinish stop completed"},
		"cut short":    {[]string{added("0", call), `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`}, "finish length max_output_tokens"},
		"filtered":     {[]string{`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`}, "finish content_filter content_filter"},
		"other ends":   {[]string{`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"bored"}}}`}, "finish other bored"},
		"failed":       {[]string{`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}`}, "error example: provider_http rate_limit_exceeded: slow"},
		"an error":     {[]string{`{"type":"error","code":"server_error","message":"oops"}`}, "error example: provider_http server_error: oops"},
		"nested error": {[]string{`{"type":"error","error":{"type":"invalid_prompt","message":"oops"}}`}, "error example: provider_http invalid_prompt: oops"},
		"no end":       {[]string{delta("output_text", `"item_id":"m"`, "t")}, "error example: provider_stream_ended: the answer ended before it was whole"},
		"usage": {
			[]string{`{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":2},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":12}}}`},
			"usage in=5 out=7 reasoning=3 cached=2 written=0 total=12\nfinish stop completed",
		},
		"a call without a name": {
			[]string{delta("function_call_arguments", `"item_id":"f","output_index":0`, "{}"), done("0", `{"type":"function_call","id":"f","call_id":"c1"}`), completed("")},
			"call c1  {}\nfinish tool_calls completed",
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, told(t, test.payloads...)) })
	}
}

func TestTheEventsNameStandsInForItsType(t *testing.T) {
	body := "event: response.output_text.delta\ndata: {\"delta\":\"x\"}\n\nevent: response.completed\ndata: {\"response\":{\"status\":\"completed\"}}\n\n"
	s := wiretest.Serve(func(int) wiretest.Answer { return wiretest.Text(200, "text/event-stream", body) })
	r, _, err := wiretest.Round(t, client(t, s), wiretest.Request())
	if assert.NoError(t, err) {
		assert.Equal(t, "text \"x\"\nfinish stop completed", wiretest.Tell(r))
	}
}

func TestAWholeAnswer(t *testing.T) {
	create := func(s *wiretest.Server) model.Client { return client(t, s) }
	assert.Equal(t, "text \"hi\"\nfinish stop completed", wiretest.Told(t, create, "application/json",
		`{"object":"response","error":null,"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`))
	assert.Equal(t, "error example: provider_http x: no", wiretest.Told(t, create, "application/json",
		`{"object":"response","status":"failed","error":{"code":"x","message":"no"},"output":[]}`))
}
