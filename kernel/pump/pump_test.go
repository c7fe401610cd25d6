package pump_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/pump"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// observer keeps what it gets; it waits for gate first when there is one.
type observer struct {
	gate chan struct{}
	got  []int
}

func entry(id uint64, o *observer) contrib.Entry[*observer] {
	return contrib.Entry[*observer]{EntryInfo: contrib.EntryInfo{ID: id, Point: "test.signal"}, Value: o}
}

func newPump(queue int) *pump.Pump[*observer, int] {
	return pump.New(pump.Config[*observer, int]{Queue: queue, Deliver: func(ctx context.Context, o *observer, v int) error {
		if o.gate != nil {
			select {
			case <-o.gate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		o.got = append(o.got, v)
		return nil
	}})
}

// POINT-4
func TestAStalledObserverLosesTheOldestAndHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := &observer{}, &observer{gate: make(chan struct{})}, &observer{}
		p := newPump(256)
		both := []contrib.Entry[*observer]{entry(1, a), entry(2, b)}
		for i := range 1000 {
			p.Publish(both, i, nil)
			synctest.Wait()
		}
		require.Len(t, a.got, 1000)
		assert.IsIncreasing(t, a.got)
		p.Publish(append(both, entry(3, c)), 1000, nil)
		synctest.Wait()
		assert.Equal(t, []int{1000}, c.got)
		// 1,001 were published: one is being delivered, 256 wait, and the rest is dropped and counted.
		assert.EqualValues(t, 1001-1-256, p.Dropped())
		p.Stop()
		assert.Empty(t, b.got, "the stop cancels what is being delivered")
		p.Publish(both, 1, nil)
		assert.Len(t, a.got, 1001, "nothing is delivered afterwards")
	})
}

func TestAnObserverThatIsGoneLosesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &observer{}, &observer{gate: make(chan struct{})}
		p := newPump(8)
		defer p.Stop()
		for i := range 3 {
			p.Publish([]contrib.Entry[*observer]{entry(1, a), entry(2, b)}, i, nil)
		}
		p.Publish([]contrib.Entry[*observer]{entry(1, a)}, 3, nil)
		close(b.gate)
		synctest.Wait()
		assert.LessOrEqual(t, len(b.got), 1)
		assert.Equal(t, []int{0, 1, 2, 3}, a.got)
	})
}

func TestAnObserverOfAnotherThreadIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &observer{}, &observer{gate: make(chan struct{}, 8)}
		p := newPump(8)
		defer p.Stop()
		p.Publish([]contrib.Entry[*observer]{entry(2, b)}, 1, nil)
		p.Publish([]contrib.Entry[*observer]{entry(2, b)}, 2, nil)
		p.Publish([]contrib.Entry[*observer]{entry(1, a)}, 3, func(id uint64) bool { return id == 2 })
		b.gate <- struct{}{}
		b.gate <- struct{}{}
		synctest.Wait()
		assert.Equal(t, []int{1, 2}, b.got)
	})
}

func TestFlushWaitsForWhatWasPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &observer{}
		p := pump.New(pump.Config[*observer, int]{Queue: 4, Deliver: func(_ context.Context, o *observer, v int) error {
			time.Sleep(time.Second)
			o.got = append(o.got, v)
			return nil
		}})
		for i := range 4 {
			p.Publish([]contrib.Entry[*observer]{entry(1, slow)}, i, nil)
		}
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, []int{0, 1, 2, 3}, slow.got)
		p.Publish([]contrib.Entry[*observer]{entry(1, slow)}, 4, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, p.Flush(ctx), context.DeadlineExceeded)
		p.Stop()
		require.ErrorIs(t, p.Flush(t.Context()), context.Canceled)
	})
}

// A flush waits for what was published before it, and no longer when that was dropped, or when its observer is gone.
func TestFlushEndsWithWhatItWaitsFor(t *testing.T) {
	for name, meanwhile := range map[string]func(p *pump.Pump[*observer, int], stalled contrib.Entry[*observer]){
		"dropped": func(p *pump.Pump[*observer, int], stalled contrib.Entry[*observer]) {
			for i := range 8 {
				p.Publish([]contrib.Entry[*observer]{stalled}, i, nil)
			}
		},
		"gone": func(p *pump.Pump[*observer, int], _ contrib.Entry[*observer]) {
			p.Publish([]contrib.Entry[*observer]{entry(2, &observer{})}, 9, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPump(2)
				defer p.Stop()
				stalled := entry(1, &observer{gate: make(chan struct{})})
				p.Publish([]contrib.Entry[*observer]{stalled}, 1, nil)
				p.Publish([]contrib.Entry[*observer]{stalled}, 2, nil)
				flushed := make(chan error, 1)
				go func() { flushed <- p.Flush(t.Context()) }()
				synctest.Wait()
				assert.Empty(t, flushed)
				meanwhile(p, stalled)
				synctest.Wait()
				require.NoError(t, <-flushed)
			})
		})
	}
}
