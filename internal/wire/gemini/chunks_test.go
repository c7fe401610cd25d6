package gemini_test

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

func parts(list string) string { return `{"candidates":[{"content":{"parts":[` + list + `]}}]}` }

func end(reason string) string {
	return `{"candidates":[{"finishReason":"` + reason + `"}],"usageMetadata":{"promptTokenCount":1}}`
}

const counted = "\nusage in=1 out=0 reasoning=0 cached=0 written=0 total=0\nfinish "

func TestWhatTheChunksSay(t *testing.T) {
	for name, test := range map[string]struct {
		payloads []string
		want     string
	}{
		"calls with ids of the server": {
			[]string{parts(`{"functionCall":{"id":"s1","name":"read","args":{"a":1}}}`), parts(`{"functionCall":{"id":"s2","name":"read","args":{"a":1}}}`), end("STOP")},
			`call s1 read {"a":1}` + "\n" + `call s2 read {"a":1}` + counted + "tool_calls STOP",
		},
		"calls without arguments": {[]string{parts(`{"functionCall":{"id":"s1","name":"now"}}`), end("STOP")}, "call s1 now {}" + counted + "tool_calls STOP"},
		"signatures": {
			[]string{
				parts(`{"text":"hm","thought":true},{"text":"ok","thoughtSignature":"S1"},{"text":"more"}`),
				parts(`{"functionCall":{"id":"c1","name":"read"},"thoughtSignature":"S2"},{"functionCall":{"id":"c2","name":"read"}},{"text":"","thoughtSignature":"S3"}`), end("STOP"),
			},
			"reasoning text \"hm\" {unsigned}\ntext \"ok\" {S1}\ntext \"more\"\ncall c1 read {} {S2}\ncall c2 read {} {S3}" + counted + "tool_calls STOP",
		},
		"a signed thought, then another": {
			[]string{parts(`{"text":"a","thought":true}`), parts(`{"text":"b","thought":true,"thoughtSignature":"S"}`), parts(`{"text":"c","thought":true}`), end("STOP")},
			"reasoning text \"ab\" {S}\nreasoning text \"c\" {unsigned}" + counted + "stop STOP",
		},
		"a signature of nothing": {[]string{parts(`{"text":"","thoughtSignature":"S"}`), parts(`{"text":"x"}`), end("STOP")}, "text \"x\"" + counted + "stop STOP"},
		"calls that were cut":    {[]string{parts(`{"text":"x"},{"functionCall":{"name":"read"}}`), end("MAX_TOKENS")}, "text \"x\"" + counted + "length MAX_TOKENS"}, // PROTO-5
		"a malformed call":       {[]string{parts(`{"functionCall":{"name":"read"}}`), end("MALFORMED_FUNCTION_CALL")}, counted[1:] + "other MALFORMED_FUNCTION_CALL"},
		"recitation":             {[]string{parts(`{"text":"x"}`), end("RECITATION")}, "text \"x\"" + counted + "content_filter RECITATION"},
		"a blocked prompt":       {[]string{`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":1}}`}, counted[1:] + "content_filter SAFETY"},
		"usage afterwards": {
			[]string{`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`, `{"usageMetadata":{"promptTokenCount":5,"toolUsePromptTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":4,"cachedContentTokenCount":1,"totalTokenCount":14}}`},
			"text \"x\"\nusage in=7 out=7 reasoning=4 cached=1 written=0 total=14\nfinish stop STOP",
		},
		"other candidates": {[]string{`{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]}},{"content":{"parts":[{"text":"yes"}]},"index":0}]}`, end("STOP")}, "text \"yes\"" + counted + "stop STOP"},
		"an error":         {[]string{parts(`{"text":"x"}`), `{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`}, "error example: provider_http 503 UNAVAILABLE: busy"},
		"no end":           {[]string{parts(`{"text":"x"}`)}, "error example: provider_stream_ended: the answer ended before it was whole"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, told(t, test.payloads...)) })
	}
}

// Without alt=sse the service answers with an array.
func TestAnArrayOfChunks(t *testing.T) {
	got := wiretest.Told(t, func(s *wiretest.Server) model.Client { return client(t, s) }, "application/json",
		"["+parts(`{"text":"a"}`)+",\n"+parts(`{"text":"b"}`)+","+end("STOP")+"]")
	assert.Equal(t, "text \"ab\""+counted+"stop STOP", got)
}
