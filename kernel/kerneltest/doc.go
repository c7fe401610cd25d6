// Package kerneltest starts a kernel for tests: everything is real but the model, which follows a script, and the thread
// log, which lives in memory.
//
//	func TestReview(t *testing.T) {
//		k := kerneltest.Start(t,
//			kerneltest.Script(
//				kerneltest.Step{Calls: []kerneltest.Call{{Name: "review__summary", Arguments: `{"text":"x"}`}}},
//				kerneltest.Step{Text: "done"},
//			),
//			kerneltest.Plugins(reviewcore.Plugin),
//		)
//		turn := k.Run("go")
//		require.Equal(t, kernel.Completed, turn.Result.Stop)
//	}
//
// A plugin that asks for what a host shares, such as model.Facts or status.Updates, needs a kernel that shares it too: add
// stock.Access of package cmd/stock, or a value of the test's own with fx.Supply and plugins.Share.
//
// Further fx options exchange modules, as in a host: fx.Replace and fx.Decorate reach what the kernel's constructors ask
// for, and contrib.Supply adds contributions.
package kerneltest
