package gemini_test

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
		lines.Replace(`data: {"candidates":[{"content":{"parts":[{"text":" token"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":31,"promptTokensDetails":[{"modality":"TEXT","tokenCount":9}]},"modelVersion":"example-small","responseId":"r7Qm2"}§§`),
		lines.Replace(`data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9}}§§`))
}

// A request of 1,000 items takes at most 2 ms.
func BenchmarkRequest1000(b *testing.B) {
	wiretest.BenchmarkRequest(b, func(s *wiretest.Server) model.Client { return client(b, s) })
}
