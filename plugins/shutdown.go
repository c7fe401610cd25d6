package plugins

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
)

// Shutdown stops all plugins, dependants first, and waits until each teardown is really complete. Operations that come
// later, or still wait for their turn, answer [NotApplied]. Generations that leak do not hold it up beyond the
// collection timeout. The wait itself has no limit; when ctx is done first, its error is returned and the shutdown goes
// on. Every call waits for the same shutdown.
func (r *Runtime) Shutdown(ctx context.Context) error {
	r.shut.Do(func() {
		r.closing.Store(true)
		go r.shutdown()
	})
	select {
	case <-r.closed:
		r.attendant.tasks.Wait()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("plugins: shut down: teardowns are still running: %w", context.Cause(ctx))
	}
}

func (r *Runtime) shutdown() {
	r.stopAll()
	sweep, cancel := context.WithTimeout(context.Background(), r.limits.Collection)
	r.watch.Sweep(sweep)
	cancel()
	r.watch.Close()
	r.lock <- struct{}{}
	r.lookAtAll()
	r.publish()
	<-r.lock
	r.attendant.end()
	r.news.deliver()
	close(r.closed)
}

// stopAll stops everything and waits for teardowns that are late already.
func (r *Runtime) stopAll() {
	r.lock <- struct{}{}
	defer func() { <-r.lock }()
	for _, id := range r.graph.StopOrder(r.graph.Order()...) {
		n := r.nodes[id]
		if n.live != nil && n.live.teardown != nil {
			<-n.live.teardown.Done()
			r.tornDown(n)
		}
		if n.live != nil {
			r.stopOne(n, stopReason{cause: contrib.StopShutdown})
		}
	}
	r.replan(nil)
}
