package generations

import (
	"fmt"
	"log/slog"
	"time"
)

// Defaults of a leak watch.
const (
	DefaultPollFirst       = 250 * time.Millisecond
	DefaultPollHighest     = 30 * time.Second
	DefaultRestartAfter    = 3
	DefaultStacks          = 16
	DefaultStackBytes      = 8 << 10
	DefaultCleanUpAttempts = 60
)

// WatchConfig are the settings of a [Watch]. Start from [DefaultWatchConfig]: zero and negative values are errors.
type WatchConfig struct {
	PollFirst    time.Duration // first interval; it doubles while nothing changes
	PollHighest  time.Duration // highest interval
	RestartAfter int           // leaked generations of one plugin from which on a restart is recommended
	Stacks       int           // distinct stacks in one leak
	StackBytes   int           // bytes of one stack
	// OnChange is told the plugin whose report has changed, by the poller or by Sweep and outside of locks. It may call
	// back, except Sweep and Close. nil: nobody is told.
	OnChange func(plugin string)
	Logger   *slog.Logger // nil discards
}

// DefaultWatchConfig returns the defaults.
func DefaultWatchConfig() WatchConfig {
	return WatchConfig{
		PollFirst: DefaultPollFirst, PollHighest: DefaultPollHighest, RestartAfter: DefaultRestartAfter,
		Stacks: DefaultStacks, StackBytes: DefaultStackBytes,
	}
}

func (c WatchConfig) validate() error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"PollFirst", int64(c.PollFirst)},
		{"PollHighest", int64(c.PollHighest)},
		{"RestartAfter", int64(c.RestartAfter)},
		{"Stacks", int64(c.Stacks)},
		{"StackBytes", int64(c.StackBytes)},
	} {
		if f.value <= 0 {
			return fmt.Errorf("generations: %s of a leak watch must be positive, not %d", f.name, f.value)
		}
	}
	if c.PollHighest < c.PollFirst {
		return fmt.Errorf("generations: PollHighest %v of a leak watch is below PollFirst %v", c.PollHighest, c.PollFirst)
	}
	return nil
}

// CleanUp is what is done once a generation is reclaimed. The zero value does nothing.
type CleanUp struct {
	Do       func() error // nil: nothing
	Attempts int          // at most so many; zero: DefaultCleanUpAttempts
	GaveUp   func()       // told when the last attempt has failed; nil: nobody is told
}

// Report is what the watch knows of one plugin.
type Report struct {
	LeakedGenerations  int    `json:"leakedGenerations"`
	RestartRecommended bool   `json:"restartRecommended"`
	Leaks              []Leak `json:"leaks,omitempty"` // in the order in which they stopped
}

// Leak is one stopped generation that is not reclaimed, or was not when it was last looked at.
type Leak struct {
	Generation string           `json:"generation"`
	Stopped    time.Time        `json:"stopped"`
	RootGone   bool             `json:"rootGone"`
	Goroutines []GoroutineGroup `json:"goroutines,omitempty"` // most numerous first
}

// GoroutineGroup is a number of goroutines with one stack.
type GoroutineGroup struct {
	Count int    `json:"count"`
	Stack string `json:"stack"`
}
