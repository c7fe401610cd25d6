package contrib

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Event is one publication.
type Event struct {
	Version uint64
	Changes []Change // sorted by point name
}

// Change is what a publication did to one point.
type Change struct {
	Point     string
	Revision  uint64
	Workspace bool // the workspace list changed
	// Threads lists the threads with entries or holds of their own whose lists changed, sorted. Every other thread is
	// served the workspace list.
	Threads []ThreadID
}

// Touches reports whether the event changed the named point.
func (e Event) Touches(point string) bool {
	return slices.ContainsFunc(e.Changes, func(c Change) bool { return c.Point == point })
}

// Subscribe calls fn for each later publication, in version order, one after another, outside the registry's locks. fn
// may change the registry; the event for that follows. A panic of fn is recorded under name. A cancelled subscriber
// gets no event that starts after the cancel. Events are shared and must not be changed.
func (r *Registry) Subscribe(name string, fn func(Event)) (cancel func()) {
	if fn == nil {
		return func() {}
	}
	r.mu.Lock() // so that no publication falls between the version and the subscription
	defer r.mu.Unlock()
	return r.notices.subscribe(&subscriber{name: name, after: r.View().version, event: fn})
}

// SubscribeDiagnostics offers each later diagnostic to fn, under the rules of Subscribe.
func (r *Registry) SubscribeDiagnostics(name string, fn func(Diagnostic)) (cancel func()) {
	if fn == nil {
		return func() {}
	}
	return r.notices.subscribe(&subscriber{name: name, diagnostic: fn})
}

// subscriber has one of its two functions.
type subscriber struct {
	name       string
	after      uint64 // it gets what has a higher version, or sequence number
	event      func(Event)
	diagnostic func(Diagnostic)
	cancelled  atomic.Bool
}

// notice is something to be told, or values to be closed once what stands before it has been told.
type notice struct {
	event      *Event
	diagnostic *Diagnostic
	closing    []*entry
}

// notices is what has to be told outside the registry's lock, in order. Whoever finds nobody telling tells it.
type notices struct {
	mu          sync.Mutex // taken after the registry's
	queue       []notice
	busy        bool // a goroutine is telling
	subscribers []*subscriber
	kept        []Diagnostic
	seq         uint64
}

func (n *notices) subscribe(s *subscriber) (cancel func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.diagnostic != nil {
		s.after = n.seq
	}
	n.subscribers = append(slices.Clip(n.subscribers), s)
	return func() {
		s.cancelled.Store(true)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.subscribers = slices.DeleteFunc(slices.Clone(n.subscribers), func(o *subscriber) bool { return o == s })
	}
}

func (n *notices) post(item notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue = append(n.queue, item)
}

// record keeps a diagnostic and queues it.
func (n *notices) record(d Diagnostic) Diagnostic {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.keep(d, true)
}

// keep numbers and keeps a diagnostic. The caller holds n.mu.
func (n *notices) keep(d Diagnostic, offer bool) Diagnostic {
	n.seq++
	d = d.clone()
	d.Seq, d.Time = n.seq, time.Now()
	if len(n.kept) == maxDiagnostics {
		n.kept = slices.Delete(n.kept, 0, 1)
	}
	n.kept = append(n.kept, d)
	if offer {
		n.queue = append(n.queue, notice{diagnostic: &d})
	}
	return d
}

// deliver tells what is queued, unless another goroutine is telling: then that one tells it. Values are closed without
// standing in the way of others: a Close may take its time.
func (n *notices) deliver(r *Registry) {
	for {
		item, ok := n.next()
		if !ok {
			return
		}
		n.tell(item)
		for _, e := range item.closing {
			if closeValue(e.value) != nil {
				r.notices.record(e.teardownDiagnostic())
			}
		}
	}
}

func (n *notices) next() (notice, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.busy || len(n.queue) == 0 {
		return notice{}, false
	}
	item := n.queue[0]
	n.queue[0] = notice{}
	n.queue = n.queue[1:]
	n.busy = item.closing == nil
	return item, true
}

// tell gives one item to all subscribers, in the order of their subscription.
func (n *notices) tell(item notice) {
	if item.closing != nil {
		return
	}
	n.mu.Lock()
	subscribers := n.subscribers
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.busy = false
	}()
	for _, s := range subscribers {
		if !s.cancelled.Load() {
			n.call(s, item)
		}
	}
}

// call gives one item to one subscriber. Its panic is recorded; one over the report of a panic is not offered again, so
// that two failing subscribers do not report each other for ever.
func (n *notices) call(s *subscriber, item notice) {
	defer func() {
		if recover() != nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.keep(observerDiagnostic(s.name), item.diagnostic == nil || item.diagnostic.Code != CodeObserverFailed)
		}
	}()
	switch {
	case item.event != nil && s.event != nil && item.event.Version > s.after:
		s.event(*item.event)
	case item.diagnostic != nil && s.diagnostic != nil && item.diagnostic.Seq > s.after:
		s.diagnostic(item.diagnostic.clone())
	}
}
