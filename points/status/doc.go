// Package status holds the contract of status fields: a plugin contributes a [Field] and pushes its text through
// [Updates]. The host never asks for a text and runs no timer for it.
//
//	contrib.Supply(status.Fields, status.Field{Name: "build", Description: "State of the last build"}),
//	fx.Invoke(func(u status.Updates, w *watcher) { w.onResult(func(r result) { u.Set("build", r.String()) }) }),
//
// Whether and where a field is shown is the operator's choice. [Admit] says which fields have their names.
package status
