package generations

import (
	"time"
	"weak"
)

// Remains is what is left of a stopped generation: its label and a weak reference to its root.
type Remains struct {
	Plugin     string
	Generation string
	Stopped    time.Time // when the teardown was complete

	root weak.Pointer[root]
}

// RootGone reports whether the root was collected. It says nothing about goroutines.
func (r Remains) RootGone() bool { return r.root.Value() == nil }
