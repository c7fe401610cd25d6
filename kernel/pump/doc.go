// Package pump delivers values to the entries of a pumped point. Each entry has a bounded queue and a goroutine of its
// own: publishing never waits, an entry that stalls loses its oldest waiting values, and nobody else notices.
//
//	p := pump.New(pump.Config[thread.SignalObserver, thread.Signal]{Queue: thread.SignalQueue, Deliver: deliver})
//	defer p.Stop()
//	p.Publish(thread.Signals.Entries(registry.View(), id), signal)
package pump
