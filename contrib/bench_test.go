package contrib_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

func filled(tb testing.TB, entries, threads int) *contrib.Registry {
	tb.Helper()
	r, err := contrib.New(pointP, pointQ)
	require.NoError(tb, err)
	require.NoError(tb, r.Batch(func(b *contrib.Batch) error {
		for i := range entries {
			if _, err := pointP.Add(b.With(r.Builtin()), word(numbered(i)), contrib.Order(i%100)); err != nil {
				return err
			}
		}
		for i := range threads {
			if _, err := pointP.Add(b.With(r.Builtin()), word("t"), contrib.InThread(threadID(i))); err != nil {
				return err
			}
		}
		return nil
	}))
	return r
}

func threadID(i int) contrib.ThreadID {
	return contrib.ThreadID(fmt.Sprintf("0198c0de-7a3e-7cc1-8bb2-%012x", i*7919))
}

// BenchmarkFloor is what a read cannot be faster than: a call, a load of an atomic pointer and an index.
func BenchmarkFloor(b *testing.B) {
	var p atomic.Pointer[[][]thing]
	p.Store(&[][]thing{{word("a")}})
	read := func(i int) []thing { return (*p.Load())[i] }
	var list []thing
	for b.Loop() {
		list = read(0)
	}
	require.Len(b, list, 1)
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{1, 10, 100, 10_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			v := filled(b, n, 0).View()
			var list []thing
			b.ReportAllocs()
			for b.Loop() {
				list = pointP.In(v, "")
			}
			require.Len(b, list, n)
		})
	}
	// The id of a thread usually is one string; one that was read again takes a look at its bytes.
	r := filled(b, 10, 20)
	for name, id := range map[string]contrib.ThreadID{"thread": ownID(r, 11), "thread-copied-id": threadID(11)} {
		b.Run(name, func(b *testing.B) {
			v := r.View()
			var list []thing
			b.ReportAllocs()
			for b.Loop() {
				list = pointP.In(v, id)
			}
			require.Len(b, list, 11)
		})
	}
}

// ownID is the id of a thread as the registry keeps it.
func ownID(r *contrib.Registry, i int) contrib.ThreadID {
	for _, e := range pointP.Entries(r.View(), threadID(i)) {
		if e.Thread != "" {
			return e.Thread
		}
	}
	return ""
}

// BenchmarkCommit100 commits 100 contributions over 10 points.
func BenchmarkCommit100(b *testing.B) {
	points := make([]*contrib.Point[thing], 10)
	all := make([]contrib.AnyPoint, len(points))
	for i := range points {
		points[i] = define(fmt.Sprintf("bench.point%d", i), nil)
		all[i] = points[i]
	}
	r, err := contrib.New(all...)
	require.NoError(b, err)
	origin := plugin(b, "bench", "g1")
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := r.Stage(origin, nil)
		for i := range 100 {
			if _, err := points[i%10].Add(s.Registrar(), word("w"), contrib.Order(i)); err != nil {
				b.Fatal(err)
			}
		}
		s.Seal()
		before := r.View().Version()
		b.StartTimer()
		if err := s.Commit(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if got := r.View().Version(); got != before+1 {
			b.Fatalf("%d publications", got-before)
		}
		s.Revoke(contrib.StopOperator)
		b.StartTimer()
	}
}

// BenchmarkLargeRegistry adds to a registry with 10,000 entries and 1,000 threads with scoped entries.
func BenchmarkLargeRegistry(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := filled(b, 10_000, 1_000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	megabytes := float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
	add := func(b *testing.B, opts ...contrib.Option) {
		b.ReportAllocs()
		for b.Loop() {
			h, err := pointP.Add(r.Builtin(), word("w"), opts...)
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			h.Revoke()
			b.StartTimer()
		}
		b.ReportMetric(megabytes, "MB-held")
	}
	b.Run("add", func(b *testing.B) { add(b, contrib.Order(50)) })
	b.Run("add-thread", func(b *testing.B) { add(b, contrib.InThread(threadID(500))) })
	b.Run("add-replacement", func(b *testing.B) { add(b, contrib.ReplaceTarget("x")) })
	for _, thread := range []contrib.ThreadID{"", ownID(r, 500)} {
		b.Run(fmt.Sprintf("resolve/thread=%t", thread != ""), func(b *testing.B) {
			v := r.View()
			var list []thing
			b.ReportAllocs()
			for b.Loop() {
				list = pointP.In(v, thread)
			}
			require.NotEmpty(b, list)
		})
	}
}
