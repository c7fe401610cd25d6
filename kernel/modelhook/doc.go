// Package modelhook runs the hooks of a model request: every raw rebuild, then every ordinary transform, each on what the
// one before left; and shows a complete answer to the observers of answers.
//
//	out, err := modelhook.Prepare(ctx, view, modelhook.Request{Purpose: model.Work, System: system, Items: items})
//
// Hooks see a projection: the live system text as item 0, items by their index, images by number. What they return is
// checked as a whole and applied to a copy; the thread is never touched. An item that comes back as it was stays the same
// item, with all its provider state.
package modelhook
