package ollama_test

import (
	"strings"
	"testing"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

// One delta takes at most 1 µs and 4 allocations.
func BenchmarkStream(b *testing.B) {
	lines := strings.NewReplacer("¶", "\n", "§", "\r\n")
	wiretest.BenchmarkStream(b, func(s *wiretest.Server) model.Client { return client(b, s) }, "application/x-ndjson",
		lines.Replace(``),
		lines.Replace(`{"model":"example-small","created_at":"2026-11-20T09:00:01.001371Z","message":{"role":"assistant","content":" token"},"done":false}¶`),
		lines.Replace(`{"done":true}¶`))
}

// A request of 1,000 items takes at most 2 ms.
func BenchmarkRequest1000(b *testing.B) {
	wiretest.BenchmarkRequest(b, func(s *wiretest.Server) model.Client { return client(b, s) })
}
