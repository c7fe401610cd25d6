package generations_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

func watch(t *testing.T, change func(c *generations.WatchConfig)) *generations.Watch {
	t.Helper()
	c := generations.DefaultWatchConfig()
	if change != nil {
		change(&c)
	}
	w, err := generations.NewWatch(c)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// TestAHundredCyclesOfACleanPlugin is RUN-11 (1): nothing is left.
func TestAHundredCyclesOfACleanPlugin(t *testing.T) {
	r := registry(t)
	w := watch(t, nil)
	ids := map[string]bool{}
	var before *contrib.View
	for range 100 {
		view, _, remains, _ := cycle(t, r)
		ids[remains.Generation] = true
		if before != nil {
			_, err := plain.In(before, "")[0].Echo(context.Background(), "a")
			require.Equal(t, contrib.ErrUnavailable, err)
		}
		before = view
		assert.Empty(t, plain.In(r.View(), ""))
		w.Add(remains, generations.CleanUp{})
	}
	assert.Len(t, ids, 100)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	assert.True(t, w.Sweep(ctx))
	assert.Equal(t, generations.Report{}, w.Report("acme"))
}

// kept is a package variable of a plugin that leaks.
var kept []*generations.Lifetime

// TestLeakingPluginIsCountedAndNamed is RUN-9 and RUN-11 (2), with a global that keeps the lifetime and with a raw
// goroutine.
func TestLeakingPluginIsCountedAndNamed(t *testing.T) {
	let := make(chan struct{})
	var running sync.WaitGroup
	for name, build := range map[string]func(s *generations.Scope) error{
		"global": func(s *generations.Scope) error { kept = append(kept, s.Lifetime); return nil },
		"goroutine": func(*generations.Scope) error {
			running.Add(2)
			for range 2 {
				go leakyLoop(let, &running)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := registry(t)
			w := watch(t, nil)
			for n := 1; n <= 4; n++ {
				c := config(r, build)
				remains := stop(activate(t, c)).Remains()
				assert.Equal(t, name == "goroutine", collected(remains.RootGone))
				assert.False(t, w.Add(remains, generations.CleanUp{}))
				expired, cancel := context.WithCancel(context.Background())
				cancel()
				assert.False(t, w.Sweep(expired))
				report := w.Report("acme")
				require.Equal(t, n, report.LeakedGenerations)
				assert.Equal(t, n >= 3, report.RestartRecommended)
				leak := report.Leaks[n-1]
				assert.Equal(t, c.ID, leak.Generation)
				assert.False(t, leak.Stopped.IsZero())
				if name == "global" {
					assert.False(t, leak.RootGone)
					assert.Empty(t, leak.Goroutines)
					continue
				}
				assert.True(t, leak.RootGone)
				require.Len(t, leak.Goroutines, 1)
				assert.Equal(t, 2, leak.Goroutines[0].Count)
				assert.Contains(t, leak.Goroutines[0].Stack, "generations_test.leakyLoop watch_test.go:")
				assert.NotContains(t, leak.Goroutines[0].Stack, "/src/")
			}
			assert.Zero(t, w.Report("other").LeakedGenerations)
			kept = nil
			if name == "goroutine" {
				close(let)
				running.Wait()
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			assert.True(t, w.Sweep(ctx))
			assert.Zero(t, w.Report("acme").LeakedGenerations)
		})
	}
}

func leakyLoop(let chan struct{}, running *sync.WaitGroup) {
	<-let
	running.Done()
}

// leaking returns what is left of a generation whose lifetime the caller keeps.
func leaking(t *testing.T) (generations.Remains, *generations.Lifetime) {
	lt, g := lifetime(t, config(registry(t), nil))
	return stop(g).Remains(), lt
}

func TestPollerSlowsDownAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var changes []time.Duration
		began := time.Now()
		w := watch(t, func(c *generations.WatchConfig) {
			c.PollHighest = time.Second
			c.OnChange = func(plugin string) {
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, "acme", plugin)
				changes = append(changes, time.Since(began))
			}
		})
		remains, lt := leaking(t)
		require.False(t, w.Add(remains, generations.CleanUp{}))
		// Polls are at 250 ms (the first), 750 ms, and from 1.75 s on each second.
		time.Sleep(2 * time.Second)
		lt.Context()
		lt = nil
		assert.True(t, collected(remains.RootGone))
		time.Sleep(700 * time.Millisecond)
		assert.Equal(t, 1, w.Report("acme").LeakedGenerations, "between two polls")
		time.Sleep(100 * time.Millisecond)
		assert.Zero(t, w.Report("acme").LeakedGenerations)
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, []time.Duration{2750 * time.Millisecond}, changes)
	}) // the bubble ends only when the poller has
}

func TestFirstPollAfterATeardownCollects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, nil)
		remains := stop(activate(t, config(registry(t), nil))).Remains()
		if w.Add(remains, generations.CleanUp{}) {
			return // a collection came in between
		}
		time.Sleep(generations.DefaultPollFirst + time.Millisecond)
		assert.Zero(t, w.Report("acme").LeakedGenerations)
	})
}

func TestCleanUpIsTriedAgain(t *testing.T) {
	for _, tt := range []struct {
		name     string
		failures int
		attempts int
		calls    int
		gaveUp   bool
	}{
		{"at once", 0, 3, 1, false},
		{"the third time", 2, 3, 3, false},
		{"never", 99, 3, 3, true},
		{"by the default limit", 99, 0, generations.DefaultCleanUpAttempts, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch(t, nil)
				calls, gaveUp, inside := 0, 0, -1
				remains := stop(activate(t, config(registry(t), nil))).Remains()
				w.Add(remains, generations.CleanUp{
					Do: func() error {
						calls++
						inside = w.Report("acme").LeakedGenerations
						switch {
						case calls > tt.failures:
							return nil
						case calls%2 == 0:
							panic("clean-up")
						default:
							return errors.New("busy")
						}
					},
					Attempts: tt.attempts,
					GaveUp:   func() { gaveUp++; panic("gave up") },
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				assert.True(t, w.Sweep(ctx))
				assert.Equal(t, tt.calls, calls)
				assert.Equal(t, tt.gaveUp, gaveUp == 1)
				assert.Zero(t, inside, "it has left the count before its clean-up runs")
				assert.Zero(t, w.Report("acme").LeakedGenerations)
			})
		})
	}
}

func TestFailedCleanUpCountsUntilTheNextPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, nil)
		var free atomic.Bool
		remains := stop(activate(t, config(registry(t), nil))).Remains()
		w.Add(remains, generations.CleanUp{Do: func() error {
			if !free.Load() {
				return errors.New("busy")
			}
			return nil
		}})
		time.Sleep(time.Minute)
		assert.Equal(t, 1, w.Report("acme").LeakedGenerations)
		free.Store(true)
		time.Sleep(time.Minute)
		assert.Zero(t, w.Report("acme").LeakedGenerations)
	})
}

func TestWatchConfigIsChecked(t *testing.T) {
	for name, change := range map[string]func(c *generations.WatchConfig){
		"first":    func(c *generations.WatchConfig) { c.PollFirst = 0 },
		"highest":  func(c *generations.WatchConfig) { c.PollHighest = -1 },
		"restart":  func(c *generations.WatchConfig) { c.RestartAfter = 0 },
		"stacks":   func(c *generations.WatchConfig) { c.Stacks = 0 },
		"bytes":    func(c *generations.WatchConfig) { c.StackBytes = 0 },
		"inverted": func(c *generations.WatchConfig) { c.PollHighest = c.PollFirst - 1 },
	} {
		c := generations.DefaultWatchConfig()
		change(&c)
		_, err := generations.NewWatch(c)
		assert.Error(t, err, name)
	}
}

func TestClosedWatchIsQuiet(t *testing.T) {
	w := watch(t, nil)
	remains, lt := leaking(t)
	w.Close()
	w.Close()
	assert.False(t, w.Add(remains, generations.CleanUp{}))
	assert.Zero(t, w.Report("acme").LeakedGenerations)
	lt.Context()
}

func TestParseProfile(t *testing.T) {
	const text = `goroutine profile: total 9
3 @ 0x1 0x2
# labels: {"crystal.generation":"acme@g1", "crystal.plugin":"acme"}
#	0x1	runtime.gopark+0x1		/usr/src/runtime/proc.go:402
#	0x2	main.run.func1+0x12	/home/x/main.go:7

2 @ 0x1 0x3
# labels: {"crystal.generation":"acme@g1", "crystal.plugin":"acme"}
#	0x1	runtime.gopark+0x1		/usr/src/runtime/proc.go:402
#	0x3	main.run.func1+0x13	/home/x/main.go:7

1 @ 0x1
# labels: {"a":"\"crystal.generation\":\"acme@g1\"", "crystal.generation":"acme@g10"}
#	0x1	main.other+0x1	/home/x/main.go:1

1 @ 0x1
#	0x1	main.free+0x1	/home/x/main.go:2

1 @ 0x4
# labels: {"crystal.generation":"acme@g2"}
# a line of another kind
`
	got := generations.ParseProfile([]byte(text), map[string]bool{"acme@g1": true, "acme@g2": true})
	assert.Equal(t, map[string][]generations.GoroutineGroup{
		"acme@g1": {{Count: 5, Stack: "runtime.gopark proc.go:402\nmain.run.func1 main.go:7"}},
		"acme@g2": {{Count: 1}},
	}, got)
}

func FuzzParseProfile(f *testing.F) {
	f.Add([]byte("1 @ 0x1\n# labels: {\"crystal.generation\":\"a@g\"}\n#\t0x1\tf+0x1\tx.go:1\n"))
	f.Add([]byte("# labels: {\"crystal.generation\":\"\\xff\"}\n99999999999999999999 @\n#\t"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name := range generations.ParseProfile(text, map[string]bool{"a@g": true}) {
			if name != "a@g" {
				t.Fatalf("found %q, which nobody asked for", name)
			}
		}
	})
}

func TestLeakReportIsBounded(t *testing.T) {
	w := watch(t, func(c *generations.WatchConfig) { c.Stacks, c.StackBytes = 1, 20 })
	let := make(chan struct{})
	var running sync.WaitGroup
	remains := stop(activate(t, config(registry(t), func(*generations.Scope) error {
		running.Add(3)
		go leakyLoop(let, &running)
		for range 2 {
			go func() { leakyLoop(let, &running) }()
		}
		return nil
	}))).Remains()
	w.Add(remains, generations.CleanUp{})
	expired, cancel := context.WithCancel(context.Background())
	cancel()
	w.Sweep(expired)
	leaks := w.Report("acme").Leaks
	close(let)
	running.Wait()
	require.Len(t, leaks, 1)
	require.Len(t, leaks[0].Goroutines, 1, "the most numerous")
	assert.Equal(t, 2, leaks[0].Goroutines[0].Count)
	assert.LessOrEqual(t, len(leaks[0].Goroutines[0].Stack), 20)
	assert.True(t, strings.HasPrefix(leaks[0].Goroutines[0].Stack, "runtime.") || strings.HasPrefix(leaks[0].Goroutines[0].Stack, "github.com"))
}
