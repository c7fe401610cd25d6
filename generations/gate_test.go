package generations_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/generations"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestGateDrainsOnceTheLastCallHasLeft(t *testing.T) {
	g := generations.NewGate()
	outer, ok := g.Enter()
	require.True(t, ok)
	inner, ok := g.Enter()
	require.True(t, ok, "calls nest")
	assert.Equal(t, 2, g.Inside())
	g.Close()
	g.Close()
	assert.True(t, g.Closed())
	_, ok = g.Enter()
	assert.False(t, ok, "a nested call after the gate has closed is refused")
	inner.Release()
	inner.Release()
	assert.False(t, isClosed(g.Drained()), "releasing twice counts once")
	outer.Release()
	assert.True(t, isClosed(g.Drained()))
}

func TestLeaseOfARefusedCallCanBeReleased(t *testing.T) {
	g := generations.NewGate()
	g.Close()
	l, ok := g.Enter()
	require.False(t, ok)
	l.Release()
	assert.True(t, isClosed(g.Drained()))
	assert.Zero(t, g.Inside())
}

// TestGateHistories plays histories against a counter and a flag.
func TestGateHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generations.NewGate()
		closed := false
		var out, over []*generations.Lease
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				l, ok := g.Enter()
				if ok == closed {
					t.Fatalf("enter gave %v, closed %v", ok, closed)
				}
				if ok {
					out = append(out, l)
				}
			},
			"release": func(t *rapid.T) {
				if len(out) == 0 {
					t.Skip("nobody is inside")
				}
				i := rapid.IntRange(0, len(out)-1).Draw(t, "lease")
				out[i].Release()
				over = append(over, out[i])
				out = append(out[:i], out[i+1:]...)
			},
			"release again": func(t *rapid.T) {
				for _, l := range over {
					l.Release()
				}
			},
			"close": func(t *rapid.T) { g.Close(); closed = true },
			"": func(t *rapid.T) {
				if g.Inside() != len(out) || g.Closed() != closed || isClosed(g.Drained()) != (closed && len(out) == 0) {
					t.Fatalf("inside %d of %d, closed %v of %v, drained %v", g.Inside(), len(out), g.Closed(), closed, isClosed(g.Drained()))
				}
			},
		})
	})
}

func TestGateDrainsUnderContention(t *testing.T) {
	for range 200 {
		g := generations.NewGate()
		var inside atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					l, ok := g.Enter()
					if !ok {
						return
					}
					inside.Add(1)
					inside.Add(-1)
					l.Release()
				}
			})
		}
		g.Close()
		<-g.Drained()
		assert.Zero(t, inside.Load())
		wg.Wait()
	}
}
