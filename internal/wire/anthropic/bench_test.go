package anthropic_test

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
		lines.Replace(`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}¶¶`),
		lines.Replace(`event: content_block_delta¶data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" token"}}¶¶`),
		lines.Replace(`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}¶¶data: {"type":"message_stop"}¶¶`))
}

// A request of 1,000 items takes at most 2 ms.
func BenchmarkRequest1000(b *testing.B) {
	wiretest.BenchmarkRequest(b, func(s *wiretest.Server) model.Client { return client(b, s) })
}
