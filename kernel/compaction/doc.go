// Package compaction makes room in a thread: it drops old tool outputs, and folds older turns into a summary.
//
// The turn loop asks [Due] before each round and after each turn, and calls [Run]. What [Run] came to is an [Outcome];
// whether the request fits afterwards decides if the turn goes on. A [Brake] keeps compactions from going round in
// circles.
//
//	if brake.Allows() && compaction.Due(settings, load) {
//		outcome, err := compaction.Run(ctx, inputs)
//		...
//		brake.Ran(outcome)
//		if !outcome.Fits {
//			return stop("context_overflow", outcome.Largest)
//		}
//	}
//
// Which summariser has authority, and which tools' results may be dropped, is read from the points of
// points/compaction; [Module] contributes what is built in. Everything else is decided here: what is folded, where the
// tail begins, and what counts as a failure. A failure leaves the history as it was.
package compaction
