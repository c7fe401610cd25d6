package generations_test

import (
	"context"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// adder is a contract that costs nothing itself.
type adder interface {
	Add(ctx context.Context, n int) (int, error)
}

type addImpl struct{ k int }

//go:noinline
func (a *addImpl) Add(_ context.Context, n int) (int, error) { return n + a.k, nil }

var (
	sums = contrib.Define(contrib.Spec[adder]{
		Name: "test.sums", Doc: "Adds.", Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly, Evaluation: contrib.PerCall,
		Failure: contrib.Skip,
		Guard:   func(v adder, _ any, ref contrib.Ref) adder { return sumGuard{generations.Bind(ref, v)} },
	})
	timedSums = contrib.Define(contrib.Spec[adder]{
		Name: "test.timedsums", Doc: "Adds.", Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly, Evaluation: contrib.PerCall,
		Failure: contrib.Skip, Deadline: generations.DefaultTimeout,
		Guard: func(v adder, _ any, ref contrib.Ref) adder { return timedSumGuard{generations.Bind(ref, v)} },
	})
)

type sumGuard struct{ ref *generations.Ref[adder] }

func (g sumGuard) Add(ctx context.Context, n int) (int, error) {
	return generations.CallHere(ctx, g.ref, func(ctx context.Context, v adder) (int, error) { return v.Add(ctx, n) })
}

// heldSumGuard holds the value for the time of a call, and gives it nothing else.
type heldSumGuard struct{ ref *generations.Ref[adder] }

func (g heldSumGuard) Add(ctx context.Context, n int) (int, error) {
	held, ok := g.ref.Hold()
	if !ok {
		return 0, contrib.ErrUnavailable
	}
	n, err := held.Value.Add(ctx, n)
	held.Release()
	return n, err
}

type timedSumGuard struct{ ref *generations.Ref[adder] }

func (g timedSumGuard) Add(ctx context.Context, n int) (int, error) {
	return generations.Call(ctx, g.ref, func(ctx context.Context, v adder) (int, error) { return v.Add(ctx, n) })
}

// guarded returns the guard of an adder in an active generation.
func guarded(t testing.TB, p *contrib.Point[adder]) (adder, *generations.Generation) {
	r, err := contrib.New(sums, timedSums)
	require.NoError(t, err)
	g := activate(t, config(r, func(s *generations.Scope) error {
		_, err := p.Add(s.Registrar, adder(&addImpl{1}))
		return err
	}))
	return p.In(r.View(), "")[0], g
}

func BenchmarkDirectCall(b *testing.B) {
	var a adder = &addImpl{1}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n, _ = a.Add(ctx, n)
	}
}

// BenchmarkGuardedCall is the reference, the gate and the lease: what stands between a host and a value that it holds.
func BenchmarkGuardedCall(b *testing.B) {
	a, g := guarded(b, sums)
	defer stop(g)
	a = heldSumGuard(a.(sumGuard))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n, _ = a.Add(ctx, n)
	}
}

// BenchmarkGuardedCallParallel is BenchmarkGuardedCall from several goroutines at once. Two of them that count themselves in
// one cell of the gate fight for it: that takes 17 ns.
func BenchmarkGuardedCallParallel(b *testing.B) {
	a, g := guarded(b, sums)
	defer stop(g)
	a = heldSumGuard(a.(sumGuard))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		n := 0
		for pb.Next() {
			n, _ = a.Add(ctx, n)
		}
	})
}

// BenchmarkGuardedCallLabelled is all that a guard does for a call without a deadline, from a goroutine of the host that has
// labels of its own: labels set and put back, a context of the call's own, and recovery from a panic.
func BenchmarkGuardedCallLabelled(b *testing.B) {
	a, g := guarded(b, sums)
	defer stop(g)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	pprof.Do(ctx, pprof.Labels("host", "bench"), func(ctx context.Context) {
		n := 0
		for b.Loop() {
			n, _ = a.Add(ctx, n)
		}
	})
}

func BenchmarkGuardedCallDeadline(b *testing.B) {
	a, g := guarded(b, timedSums)
	defer stop(g)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n, _ = a.Add(ctx, n)
	}
}

// BenchmarkGuardedCallDeadlineCrowded is the same call beside goroutines that keep every processor busy.
func BenchmarkGuardedCallDeadlineCrowded(b *testing.B) {
	a, g := guarded(b, timedSums)
	defer stop(g)
	var over atomic.Bool
	var busy sync.WaitGroup
	for range 16 {
		busy.Go(func() {
			for n := 0; !over.Load(); n++ {
				if n%20_000 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n, _ = a.Add(b.Context(), n)
	}
	over.Store(true)
	busy.Wait()
}
