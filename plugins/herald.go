package plugins

import (
	"slices"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
)

// herald brings events to subscribers: one event after another, each to all subscribers in the order of subscription,
// outside of all locks, and never on two goroutines at once.
type herald struct {
	registry *contrib.Registry
	wake     chan struct{}

	mu          sync.Mutex
	events      []Event
	subscribers []*subscriber
	delivering  bool
}

type subscriber struct {
	name      string
	fn        func(Event)
	cancelled bool
}

func (h *herald) init(registry *contrib.Registry) {
	h.registry, h.wake = registry, make(chan struct{}, 1)
}

func (h *herald) post(e Event) {
	h.mu.Lock()
	h.events = append(h.events, e)
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// deliver brings all events that wait, unless somebody else is at it: then that one brings them.
func (h *herald) deliver() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.delivering {
		return
	}
	h.delivering = true
	defer func() { h.delivering = false }()
	for len(h.events) > 0 {
		e := h.events[0]
		h.events = h.events[1:]
		for _, s := range slices.Clone(h.subscribers) {
			if s.cancelled {
				continue
			}
			h.mu.Unlock()
			err := contained(func() error { s.fn(Event{e.Revision, slices.Clone(e.Changed)}); return nil })
			if err != nil {
				h.registry.Record(contrib.Diagnostic{
					Code: "ContributionObserverFailed", Severity: contrib.Warning, Message: "A subscriber failed.",
					Params: map[string]any{"subscriber": s.name},
				})
			}
			h.mu.Lock()
		}
	}
}

// Subscribe calls fn for each new snapshot, in order, one call after another. A panic in fn is recovered and recorded
// among the registry's diagnostics under name. fn may call operations of the runtime: the events that they cause follow
// when fn has returned. The returned function ends the subscription; an event that is being delivered may still arrive.
func (r *Runtime) Subscribe(name string, fn func(Event)) (cancel func()) {
	s := &subscriber{name: name, fn: fn}
	h := &r.news
	h.mu.Lock()
	h.subscribers = append(h.subscribers, s)
	h.mu.Unlock()
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.cancelled = true
		h.subscribers = slices.DeleteFunc(h.subscribers, func(other *subscriber) bool { return other == s })
	}
}

// announce delivers events while operations are still going on, so that nobody has to wait for a slow activation to
// learn that it began.
func (r *Runtime) announce() {
	for {
		select {
		case <-r.news.wake:
			r.news.deliver()
		case <-r.closed:
			return
		}
	}
}
