package responses_test

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
		lines.Replace(`event: response.output_text.delta¶data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" token","logprobs":[]}¶¶`),
		lines.Replace(`data: {"type":"response.completed","response":{"status":"completed","output":[]}}¶¶`))
}

// A request of 1,000 items takes at most 2 ms.
func BenchmarkRequest1000(b *testing.B) {
	wiretest.BenchmarkRequest(b, func(s *wiretest.Server) model.Client { return client(b, s) })
}
