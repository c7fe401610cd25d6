package toolset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

func BenchmarkPlanTools(b *testing.B) {
	h := newHost(b)
	for s := range 50 {
		list := make([]tool.Registration, 20)
		for i := range list {
			list[i] = spaced(fmt.Sprintf("space%d", s), fmt.Sprintf("tool%d", i))
			list[i].Definition.InputSchema = json.RawMessage(fmt.Sprintf(
				`{"type":"object","properties":{"path":{"type":"string","description":"Where, for %d."},"limit":{"type":"integer"}},"required":["path"]}`, i))
		}
		h.plugin(fmt.Sprintf("acme.p%d", s), offers("s", list...))
	}
	in := h.inputs()
	b.ReportAllocs()
	for b.Loop() {
		s, _, err := toolset.Plan(context.Background(), in)
		require.NoError(b, err)
		require.Len(b, s.Models(), 1000)
	}
}
