package dispatcher_test

import (
	"context"
	"testing"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// A tool that does nothing, through every stage, with the default entries in place.
func BenchmarkDispatch(b *testing.B) {
	h := newHost(b)
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Allowed(), nil }),
		contrib.Named(dispatch.DefaultPolicy), contrib.Order(100))
	h.tools(says("read", "x", schemaOf(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`)))
	benchmark(b, h, "read")
}

// The same with the tool of a plugin, which is reached through its gate.
func BenchmarkDispatchPlugin(b *testing.B) {
	h := newHost(b)
	h.pluginTools("acme.t", says("read", "x"))
	benchmark(b, h, "read")
}

func benchmark(b *testing.B, h *host, name string) {
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		o := h.dispatcher.Dispatch(ctx, h.turn, dispatcher.Request{ID: "c1", Name: name, Arguments: `{"path":"a.txt","limit":5}`, Audience: tool.AudienceModel})
		if o.Text != "x" {
			b.Fatal(o.Text)
		}
	}
}
