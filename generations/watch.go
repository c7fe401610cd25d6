package generations

import (
	"context"
	"log/slog"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Watch is the leak watch: it polls stopped generations until they are reclaimed, which means that the root was collected
// and that no goroutine carries the label. Nothing waits for it. All methods may be called from any goroutine.
type Watch struct {
	config WatchConfig

	mu     sync.Mutex
	list   []*watched // in the order of the adds
	fresh  bool       // something was added since the last poll
	poller chan struct{}
	wake   chan struct{}
	closed bool
	quit   chan struct{}
	turn   sync.Mutex // one look at a time
}

// watched is one generation in the list.
type watched struct {
	remains  Remains
	cleanUp  CleanUp
	attempts int
	leak     Leak
	cleaning bool // reclaimed and out of the count, while its clean-up runs
}

// NewWatch makes a watch. It starts no goroutine as long as it has nothing to look at.
func NewWatch(c WatchConfig) (*Watch, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Watch{config: c, wake: make(chan struct{}, 1), quit: make(chan struct{})}, nil
}

// Add hands over a generation whose teardown is complete. It counts as leaked until it is known to be reclaimed, and the
// result says whether it is so already; then its clean-up has run. The report changes, and WatchConfig.OnChange is not told: the
// caller knows. After Close it does nothing.
func (w *Watch) Add(r Remains, c CleanUp) (reclaimed bool) {
	if c.Attempts <= 0 {
		c.Attempts = DefaultCleanUpAttempts
	}
	x := &watched{remains: r, cleanUp: c, leak: Leak{Generation: r.Generation, Stopped: r.Stopped}}
	if r.RootGone() && len(labelledGoroutines(map[string]bool{name(r.Plugin, r.Generation): true})) == 0 && w.clean(x) {
		return true
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	w.list = append(w.list, x)
	w.fresh = true
	if w.poller == nil {
		w.poller = make(chan struct{})
		go w.poll(w.poller)
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return false
}

// Report returns the report of one plugin.
func (w *Watch) Report(plugin string) Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	var r Report
	for _, x := range w.list {
		if x.remains.Plugin == plugin && !x.cleaning {
			leak := x.leak
			leak.Goroutines = slices.Clone(leak.Goroutines)
			r.Leaks = append(r.Leaks, leak)
		}
	}
	r.LeakedGenerations = len(r.Leaks)
	r.RestartRecommended = r.LeakedGenerations >= w.config.RestartAfter
	return r
}

// Sweep asks for collections until everything is reclaimed or ctx is done, and reports whether all is gone.
func (w *Watch) Sweep(ctx context.Context) bool {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		w.look(true)
		w.mu.Lock()
		left := len(w.list)
		w.mu.Unlock()
		if left == 0 {
			return true
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
}

// Close ends the poller and waits for it. What is in the list stays in the reports.
func (w *Watch) Close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.quit)
	}
	poller := w.poller
	w.mu.Unlock()
	if poller != nil {
		<-poller
	}
}

// poll is the loop. It ends when the list is empty.
func (w *Watch) poll(done chan struct{}) {
	defer close(done)
	setGoroutineLabels(nil)
	interval := w.config.PollFirst
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-w.quit:
			return
		case <-w.wake: // something was added: start again with the first interval
			interval = w.config.PollFirst
		case <-timer.C:
			if w.look(false) {
				interval = w.config.PollFirst
			} else {
				interval = min(2*interval, w.config.PollHighest)
			}
			w.mu.Lock()
			if len(w.list) == 0 {
				w.poller = nil
				w.mu.Unlock()
				return
			}
			w.mu.Unlock()
		}
		timer.Reset(interval)
	}
}

// look looks once at everything in the list and reports whether something changed.
func (w *Watch) look(collect bool) bool {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.mu.Lock()
	collect = collect || w.fresh
	w.fresh = false
	list := slices.Clone(w.list)
	w.mu.Unlock()
	if len(list) == 0 {
		return false
	}
	if collect {
		runtime.GC()
	}
	names := map[string]bool{}
	for _, x := range list {
		names[name(x.remains.Plugin, x.remains.Generation)] = true
	}
	found := labelledGoroutines(names)
	changed := map[string]bool{}
	var reclaimed []*watched
	w.mu.Lock()
	for _, x := range list {
		leak := Leak{Generation: x.remains.Generation, Stopped: x.remains.Stopped, RootGone: x.remains.RootGone()}
		groups := found[name(x.remains.Plugin, x.remains.Generation)]
		leak.Goroutines = bound(groups, w.config.Stacks, w.config.StackBytes)
		if leak.RootGone && len(groups) == 0 {
			x.cleaning = true
			reclaimed = append(reclaimed, x)
		}
		if !reflect.DeepEqual(leak, x.leak) {
			changed[x.remains.Plugin] = true
		}
		x.leak = leak
	}
	w.mu.Unlock()
	for _, x := range reclaimed {
		gone := w.clean(x)
		w.mu.Lock()
		if gone {
			changed[x.remains.Plugin] = true
			w.list = slices.DeleteFunc(w.list, func(y *watched) bool { return y == x })
		} else {
			x.cleaning = false
		}
		w.mu.Unlock()
	}
	w.changed(changed)
	return len(changed) > 0
}

// clean runs the clean-up of a reclaimed generation and reports whether it is done with, cleaned or given up.
func (w *Watch) clean(x *watched) bool {
	if x.cleanUp.Do == nil {
		return true
	}
	x.attempts++
	err := protect(x.cleanUp.Do)
	if err == nil {
		return true
	}
	w.config.Logger.Warn("clean-up of a reclaimed generation failed", slog.String("plugin", x.remains.Plugin),
		slog.String("generation", x.remains.Generation), slog.Int("attempt", x.attempts), errorAttr(err))
	if x.attempts < x.cleanUp.Attempts {
		return false
	}
	if x.cleanUp.GaveUp != nil {
		_ = protect(func() error { x.cleanUp.GaveUp(); return nil })
	}
	return true
}

// changed tells the host.
func (w *Watch) changed(plugins map[string]bool) {
	if w.config.OnChange == nil {
		return
	}
	for p := range plugins {
		if err := protect(func() error { w.config.OnChange(p); return nil }); err != nil {
			w.config.Logger.Error("a subscriber of the leak watch panicked", errorAttr(err))
		}
	}
}
