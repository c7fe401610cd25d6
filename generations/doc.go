// Package generations runs the code of plugins so that it can be taken away again.
//
// One activation of one plugin is a generation. [Activate] builds it, stages what it contributes, and publishes that in
// one step, or rolls everything back. [Generation.Stop] takes it down in a fixed order: out of the views, the gate closed,
// told to stop, the calls inside waited for, and only then its resources closed, newest first.
//
//	g, err := generations.Activate(ctx, generations.Config{
//		Plugin: "acme.echo", ID: "g1", Registry: registry,
//		Build: func(ctx context.Context, s *generations.Scope) (generations.App, error) {
//			_, err := echo.Points.Add(s.Registrar, newEcho(s.Lifetime))
//			return nil, err
//		},
//	})
//	…
//	teardown := g.Stop(contrib.StopOperator)
//	<-teardown.Done()
//
// The types to know:
//
//   - [Gate] and [Lease]: admit calls, refuse them once closed, and tell when the last one has left.
//   - [Ref], made with [Bind]: the value of a plugin as a guard holds it. [Call] and [Ref.Do] call it with everything that
//     a guard owes: a lease, a context of its own, labels, the deadline, and an error with a fixed text.
//   - [Lifetime]: what plugin code gives its resources and its background work to.
//   - [Watch]: Go can neither unload code nor end a goroutine, so a stopped generation may stay. It is reclaimed when its
//     root was collected and no goroutine carries its label. The watch counts those that are not, and names what holds
//     them. Nothing waits for it.
//
// A guard of a point without a deadline uses [CallHere], which runs on the caller's goroutine and allocates nothing:
//
//	func (g guard) Echo(ctx context.Context, text string) (string, error) {
//		return generations.CallHere(ctx, g.ref, func(ctx context.Context, v Echoer) (string, error) {
//			return v.Echo(ctx, text)
//		})
//	}
//
// # What a call costs
//
// Measured on two cores (go test -bench 'Direct|Guarded' ./generations), and below it what the parts cost alone:
//
//	direct interface call                          2.5 ns
//	reference, gate and lease                     10.4 ns, 0 allocations   BenchmarkGuardedCall
//	the same on two cores at once, for each call   5.8 ns, 0 allocations   BenchmarkGuardedCallParallel
//	all that a guard does, with labels            25   ns, 0 allocations   BenchmarkGuardedCallLabelled
//	with a deadline                             1230   ns, 4 allocations   BenchmarkGuardedCallDeadline (a direct call: 3.5 ns)
//	where others keep both cores busy           1870   ns                  BenchmarkGuardedCallDeadlineCrowded
//
//	a word taken and given back                    5.4 ns   the gate
//	labels read, set and put back                  4.9 ns
//	a deferred function that recovers              3   ns
//	a goroutine, a channel, a timer              940   ns   the floor of a deadline
//
// A call that is not alone inside the generation, that comes with another context than the one before, or whose code asks
// for Done, allocates its context.
//
// This package knows gates and lifetimes. What a plugin is, when it is started, and what becomes of its state is the
// business of package plugins.
package generations
