// Package thread holds the contracts of those who watch threads: observers of threads and turns, which are awaited, and
// observers of signals, which are served from a queue.
//
//	contrib.Provide(thread.TurnObservers, newStopwatch)
//
// Observers cannot change or stop what they watch.
package thread
