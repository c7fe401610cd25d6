package openai_test

import (
	"strings"
	"testing"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

// One delta takes at most 1 µs and 4 allocations.
func BenchmarkStream(b *testing.B) {
	lines := strings.NewReplacer("¶", "\n", "§", "\r\n")
	wiretest.BenchmarkStream(b, func(s *wiretest.Server) model.Client { return client(b, s) }, "text/event-stream",
		lines.Replace(``),
		lines.Replace(`data: {"id":"chatcmpl-9f2c1a","object":"chat.completion.chunk","created":1790000000,"model":"example-small","system_fingerprint":"fp_1a2b3c4d","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}¶¶`),
		lines.Replace(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}¶¶data: [DONE]¶¶`))
}

// A request of 1,000 items takes at most 2 ms.
func BenchmarkRequest1000(b *testing.B) {
	wiretest.BenchmarkRequest(b, func(s *wiretest.Server) model.Client { return client(b, s) })
}
