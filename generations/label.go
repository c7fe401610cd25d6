package generations

import (
	"context"
	"runtime/pprof"
	"unsafe"
)

// Label keys. Every goroutine that runs code of a generation carries both, and so does what it starts.
const (
	LabelPlugin     = "crystal.plugin"     // the plugin id
	LabelGeneration = "crystal.generation" // <plugin id>@<generation id>
)

// runtime/pprof can set the labels of a goroutine from a context, but it cannot say which ones the goroutine has. The
// caller's labels need not be those of the context in its hand, and guessing leaves a label behind on a host goroutine.
// The runtime keeps these two names and types stable for packages outside of it (go.dev/issue/67401).

//go:linkname goroutineLabels runtime/pprof.runtime_getProfLabel
func goroutineLabels() unsafe.Pointer

//go:linkname setGoroutineLabels runtime/pprof.runtime_setProfLabel
func setGoroutineLabels(labels unsafe.Pointer)

// labelled returns a context with the labels of a generation, and those labels as the runtime keeps them.
func labelled(plugin, generation string) (context.Context, unsafe.Pointer) {
	ctx := pprof.WithLabels(context.Background(), pprof.Labels(LabelPlugin, plugin, LabelGeneration, name(plugin, generation)))
	was := goroutineLabels()
	defer setGoroutineLabels(was)
	pprof.SetGoroutineLabels(ctx)
	return ctx, goroutineLabels()
}

// name is how a generation is called in labels and in the log.
func name(plugin, generation string) string { return plugin + "@" + generation }

// Unlabelled runs fn of the host in the midst of plugin code: goroutines that fn starts do not carry the label of the
// generation that happened to ask for it. The labels are back when it returns.
func Unlabelled(fn func()) {
	was := goroutineLabels()
	defer setGoroutineLabels(was)
	setGoroutineLabels(nil)
	fn()
}
