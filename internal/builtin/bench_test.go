package builtin_test

import (
	"context"
	"testing"

	"github.com/crystalkernel/crystal/points/tool"
)

func benchmark(b *testing.B, d *desk, name string, a args) {
	binding := d.registration(name).Binding
	raw := a.encode(b)
	k := binding.Classify(context.Background(), tool.Call{Tool: name, Arguments: raw, Thread: "t1"}, d.ws)
	i := tool.Invocation{Thread: "t1", CallID: "c1", Arguments: raw, Workspace: d.ws, Approved: k}
	b.ReportAllocs()
	for b.Loop() {
		r, err := binding.Runtime.Invoke(context.Background(), i)
		if err != nil || r.Failed {
			b.Fatal(r.Error, err)
		}
	}
}

func BenchmarkRead2000Lines(b *testing.B) {
	d := newDesk(b)
	d.file("a.txt", lines(2000))
	benchmark(b, d, "read", args{"path": "a.txt"})
}

func BenchmarkGrep(b *testing.B) {
	d := newDesk(b)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		d.file("src/"+name+".txt", lines(2000))
	}
	b.Run("text", func(b *testing.B) { benchmark(b, d, "grep", args{"pattern": "line 1999"}) })
	b.Run("expression", func(b *testing.B) { benchmark(b, d, "grep", args{"pattern": "line [0-9]99$"}) })
}

func BenchmarkBash(b *testing.B) { benchmark(b, newDesk(b), "bash", args{"command": "true"}) }

func BenchmarkClassifyPath(b *testing.B) {
	d := newDesk(b)
	d.file("src/a.go", "x")
	binding := d.registration("read").Binding
	c := tool.Call{Tool: "read", Arguments: args{"path": "src/a.go"}.encode(b), Thread: "t1"}
	b.ReportAllocs()
	for b.Loop() {
		binding.Classify(context.Background(), c, d.ws)
	}
}
