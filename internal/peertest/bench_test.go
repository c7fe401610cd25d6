package peertest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

// BenchmarkStream reads the same answer of 1,000 deltas with our client and with the official library.
func BenchmarkStream(b *testing.B) {
	for _, p := range protocols {
		library, ok := libraries[p.name]
		if !ok {
			continue
		}
		answer := library.long(1000)
		b.Run(p.name+"/ours", func(b *testing.B) {
			k := &keeper{contentType: library.contentType, answer: answer}
			c, r := p.client(b, k, "peer.example"), story(p.model)
			b.ReportAllocs()
			for b.Loop() {
				k.bodies = nil
				_, err := c.Round(b.Context(), r, func(model.Delta) error { return nil })
				require.NoError(b, err)
			}
		})
		b.Run(p.name+"/theirs", func(b *testing.B) {
			k := &keeper{contentType: library.contentType, answer: answer}
			client := &http.Client{Transport: k}
			b.ReportAllocs()
			for b.Loop() {
				k.bodies = nil
				require.NoError(b, library.send(b.Context(), client, p.model))
			}
		})
	}
}
