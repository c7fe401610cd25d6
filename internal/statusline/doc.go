// Package statusline keeps the texts of contributed status fields and makes the line that an interactive client shows.
//
// A plugin contributes a [status.Field] and pushes its text through the [status.Updates] of its generation. The [Store]
// shows a text for as long as the generation owns the field: a generation that stops, faults or never came to be active
// leaves none, and its later calls do nothing. What was set before anybody reads is there at the first read.
//
//	names := config.StatusLine                          // the operator's choice
//	cancel := store.Subscribe(func(statusline.Change) { redraw() })
//	line := store.Line(names, builtin)                 // at each redraw
//
// A host calls [Store.Load] when it has loaded its plugins, and after each reload: from then on a text for a field that a
// plugin does not own costs a note. [Module] puts a store into an fx app and hands each generation its Updates.
//
// The package draws nothing, chooses no place and runs no timer.
package statusline
