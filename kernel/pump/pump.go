package pump

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/crystalkernel/crystal/contrib"
)

// Config says how values are delivered.
type Config[O, V any] struct {
	Queue   int // how many values wait for one entry
	Deliver func(ctx context.Context, observer O, value V) error
	Report  contrib.Report // receives entries that failed; nil drops them
}

// Pump delivers values to entries. It is safe for use by several goroutines.
type Pump[O, V any] struct {
	config  Config[O, V]
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	dropped atomic.Uint64

	mu     sync.Mutex
	queues map[uint64]*queue[O, V]
}

type queue[O, V any] struct {
	entry contrib.Entry[O]
	wake  chan struct{}

	mu      sync.Mutex
	waiting []item[V]
	ended   bool
}

// item is a value, or a mark that is closed when it is reached: all that was published before it is delivered then.
type item[V any] struct {
	value V
	mark  chan struct{}
}

// New makes a pump. Stop ends it.
func New[O, V any](c Config[O, V]) *Pump[O, V] {
	ctx, cancel := context.WithCancel(context.Background())
	return &Pump[O, V]{config: c, ctx: ctx, cancel: cancel, queues: map[uint64]*queue[O, V]{}}
}

// Publish queues value for each entry, which are those that are live now. It never waits for an observer. Entries that
// were served before and are not among them lose what still waits for them, unless keep says that they are live
// elsewhere.
func (p *Pump[O, V]) Publish(entries []contrib.Entry[O], value V, keep func(id uint64) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	for i := range entries {
		q := p.queues[entries[i].ID]
		if q == nil {
			q = &queue[O, V]{entry: entries[i], wake: make(chan struct{}, 1)}
			p.queues[entries[i].ID] = q
			p.running.Go(func() { p.serve(q) })
		}
		q.push(item[V]{value: value}, p.config.Queue, &p.dropped)
	}
	if len(p.queues) > len(entries) {
		p.prune(entries, keep)
	}
}

func (p *Pump[O, V]) prune(entries []contrib.Entry[O], keep func(id uint64) bool) {
	for id, q := range p.queues {
		live := keep != nil && keep(id)
		for i := range entries {
			live = live || entries[i].ID == id
		}
		if !live {
			q.end()
			delete(p.queues, id)
		}
	}
}

// Dropped returns how many values were dropped because a queue was full.
func (p *Pump[O, V]) Dropped() uint64 { return p.dropped.Load() }

// Stop cancels what is being delivered, drops what waits, and returns when every observer has returned. Later values are
// dropped.
func (p *Pump[O, V]) Stop() {
	p.mu.Lock()
	p.cancel()
	p.mu.Unlock()
	p.running.Wait()
}

// Flush waits until everything that was published before has been delivered, or ctx is done.
func (p *Pump[O, V]) Flush(ctx context.Context) error {
	p.mu.Lock()
	queues := make([]*queue[O, V], 0, len(p.queues))
	for _, q := range p.queues {
		queues = append(queues, q)
	}
	p.mu.Unlock()
	for _, q := range queues {
		mark := make(chan struct{})
		q.push(item[V]{mark: mark}, p.config.Queue+1, &p.dropped)
		select {
		case <-mark:
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
	return nil
}

func (p *Pump[O, V]) serve(q *queue[O, V]) {
	for {
		next, ok, ended := q.pop()
		if ended {
			return
		}
		if next.mark != nil {
			close(next.mark)
			continue
		}
		if !ok {
			select {
			case <-q.wake:
				continue
			case <-p.ctx.Done():
				return
			}
		}
		one := []contrib.Entry[O]{q.entry}
		err := contrib.FanOut(p.ctx, one, func(ctx context.Context, o O) error { return p.config.Deliver(ctx, o, next.value) }, p.report)
		if err != nil {
			return
		}
	}
}

func (p *Pump[O, V]) report(e *contrib.EntryInfo, f *contrib.CallError) {
	if p.config.Report != nil {
		p.config.Report(e, f)
	}
}

func (q *queue[O, V]) push(it item[V], limit int, dropped *atomic.Uint64) {
	q.mu.Lock()
	if len(q.waiting) >= limit {
		if q.waiting[0].mark != nil {
			close(q.waiting[0].mark)
		} else {
			dropped.Add(1)
		}
		copy(q.waiting, q.waiting[1:])
		q.waiting = q.waiting[:len(q.waiting)-1]
	}
	q.waiting = append(q.waiting, it)
	q.mu.Unlock()
	q.notify()
}

func (q *queue[O, V]) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue[O, V]) pop() (it item[V], ok, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended || len(q.waiting) == 0 {
		return it, false, q.ended
	}
	it = q.waiting[0]
	q.waiting = q.waiting[1:]
	return it, true, false
}

// end drops what waits; marks among it are reached.
func (q *queue[O, V]) end() {
	q.mu.Lock()
	for _, it := range q.waiting {
		if it.mark != nil {
			close(it.mark)
		}
	}
	q.ended, q.waiting = true, nil
	q.mu.Unlock()
	q.notify()
}
