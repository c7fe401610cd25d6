package plugins

import (
	"fmt"
	"time"

	"github.com/crystalkernel/crystal/generations"
)

// Timeouts are the limits of a runtime. A zero field takes its default; a negative one is an error.
type Timeouts struct {
	Activation     time.Duration // of one activation; 30 s
	Cleanup        time.Duration // how long an operation waits for a teardown; 30 s
	Collection     time.Duration // last sweep for leaked generations at shutdown; 5 s
	PollFirst      time.Duration // first interval of the leak watch, doubling while nothing changes; 250 ms
	PollHighest    time.Duration // highest interval of the leak watch; 30 s
	RestartAt      int           // leaked generations of one plugin before a restart is recommended; 3
	LeakStacks     int           // goroutine stacks in one leak report; 16
	LeakStackBytes int           // bytes of one stack; 8 KiB
	Diagnostics    int           // diagnostics kept for each plugin; 32
}

// withDefaults fills in the defaults and refuses negative values.
func (t Timeouts) withDefaults() (Timeouts, error) {
	for _, d := range []struct {
		name  string
		value *time.Duration
		usual time.Duration
	}{
		{"Activation", &t.Activation, generations.DefaultTimeout},
		{"Cleanup", &t.Cleanup, 30 * time.Second},
		{"Collection", &t.Collection, 5 * time.Second},
		{"PollFirst", &t.PollFirst, generations.DefaultPollFirst},
		{"PollHighest", &t.PollHighest, generations.DefaultPollHighest},
	} {
		if *d.value < 0 {
			return t, fmt.Errorf("%w: %s is negative", ErrOptions, d.name)
		}
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	for _, n := range []struct {
		name  string
		value *int
		usual int
	}{
		{"RestartAt", &t.RestartAt, generations.DefaultRestartAfter},
		{"LeakStacks", &t.LeakStacks, generations.DefaultStacks},
		{"LeakStackBytes", &t.LeakStackBytes, generations.DefaultStackBytes},
		{"Diagnostics", &t.Diagnostics, 32},
	} {
		if *n.value < 0 {
			return t, fmt.Errorf("%w: %s is negative", ErrOptions, n.name)
		}
		if *n.value == 0 {
			*n.value = n.usual
		}
	}
	return t, nil
}
