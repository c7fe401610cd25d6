// Package trace holds the contract of trace sinks, which receive the event stream of all threads from a bounded queue.
//
//	contrib.Supply(trace.Sinks, trace.SinkFunc("count", func(ctx context.Context, e trace.Event) error {
//		counter.Add(1)
//		return nil
//	}))
//
// A sink that stalls loses its oldest waiting events and delays nobody.
package trace
