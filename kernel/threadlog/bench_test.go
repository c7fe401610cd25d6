package threadlog_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		store threadlog.Store
	}{{"memory", threadlog.Memory()}, {"disk", threadlog.Disk(b.TempDir())}} {
		b.Run(c.name, func(b *testing.B) {
			l := create(b, c.store)
			add(b, l, turn("go"))
			item := reply("done")
			item.ID = "i2"
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%1000 == 999 { // a thread of ordinary length, so that the collector's work is that of a host
					require.NoError(b, l.Close())
					l = create(b, c.store)
					add(b, l, turn("go"))
				}
				if err := l.Append(&threadlog.Round{Turn: "t1", Items: []*model.Item{item}}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			require.NoError(b, l.Close())
		})
	}
}

// thousand makes a thread of a thousand items.
func thousand(b *testing.B, s threadlog.Store) *threadlog.Log {
	l := create(b, s)
	for i := range 250 {
		id := fmt.Sprint("c", i)
		add(b, l, turn("do something useful with the files"), round(reply("I look"), call(id, "read", `{"path":"a.txt"}`)),
			answer(id, "the content of the file, of some length"))
	}
	return l
}

func BenchmarkOpenThousandItems(b *testing.B) {
	s := threadlog.Disk(b.TempDir())
	l := thousand(b, s)
	add(b, l, end())
	require.NoError(b, l.Close())
	b.ReportAllocs()
	for b.Loop() {
		again, _, err := s.Open(context.Background(), l.ID())
		if err != nil {
			b.Fatal(err)
		}
		if err := again.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkItemsOfThousand(b *testing.B) {
	l := thousand(b, threadlog.Memory())
	b.ReportAllocs()
	for b.Loop() {
		if len(l.Items()) != 1000 {
			b.Fatal("items are missing")
		}
	}
}

func BenchmarkList(b *testing.B) {
	s := threadlog.Disk(b.TempDir())
	for range 100 {
		l := create(b, s)
		add(b, l, turn("hi"))
		require.NoError(b, l.Close())
	}
	for b.Loop() {
		if _, _, err := s.List(context.Background(), threadlog.Filter{}); err != nil {
			b.Fatal(err)
		}
	}
}
