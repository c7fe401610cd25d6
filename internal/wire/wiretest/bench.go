package wiretest

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

// deltas is the number of deltas of one answer of a benchmark.
const deltas = 10_000

// BenchmarkStream reads an answer of many text deltas: head, then event as often, then tail. It reports the cost of one.
func BenchmarkStream(b *testing.B, create func(*Server) model.Client, contentType, head, event, tail string) {
	b.Helper()
	body := head + strings.Repeat(event, deltas) + tail
	c := create(Always(Text(200, contentType, ""), func() io.Reader { return strings.NewReader(body) }))
	n := 0
	emit := func(model.Delta) error { n++; return nil }
	r := Request()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := c.Round(context.Background(), r, emit)
		require.NoError(b, err)
	}
	require.GreaterOrEqual(b, n, deltas)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deltas, "ns/delta")
	b.ReportMetric(testing.AllocsPerRun(1, func() { _, _ = c.Round(context.Background(), r, emit) })/deltas, "allocs/delta")
}

// BenchmarkRequest builds and hands over a request of 1,000 items.
func BenchmarkRequest(b *testing.B, create func(*Server) model.Client) {
	b.Helper()
	c := create(&Server{answer: func(int) Answer { return Answer{Status: 500} }, forget: true})
	r := Transcript(1000)
	emit := func(model.Delta) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		_, err := c.Round(context.Background(), r, emit)
		require.Error(b, err)
	}
}
