package approval

import (
	"context"
	"slices"
	"sync"
)

// queue lets one prompt at a time through for each thread, in the order of arrival. The zero value is ready.
type queue struct {
	mu      sync.Mutex
	threads map[string][]chan struct{} // present: a prompt is open; the list holds those that wait, first come first
}

// enter waits for the prompts of the thread that came before. The caller calls leave when its prompt is over.
func (q *queue) enter(ctx context.Context, thread string) (leave func(), err error) {
	leave = func() { q.next(thread) }
	q.mu.Lock()
	if q.threads == nil {
		q.threads = map[string][]chan struct{}{}
	}
	waiting, busy := q.threads[thread]
	if !busy {
		q.threads[thread] = nil
		q.mu.Unlock()
		return leave, nil
	}
	turn := make(chan struct{})
	q.threads[thread] = append(waiting, turn)
	q.mu.Unlock()

	select {
	case <-turn:
		return leave, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	at := slices.Index(q.threads[thread], turn)
	if at >= 0 {
		q.threads[thread] = slices.Delete(q.threads[thread], at, at+1)
	}
	q.mu.Unlock()
	if at < 0 {
		// The turn had just come: it is passed on.
		leave()
	}
	return nil, ctx.Err()
}

// next lets the one that has waited longest in.
func (q *queue) next(thread string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.threads[thread]
	if len(waiting) == 0 {
		delete(q.threads, thread)
		return
	}
	q.threads[thread] = waiting[1:]
	close(waiting[0])
}
