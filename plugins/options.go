package plugins

import (
	"context"
	"log/slog"
	"reflect"

	"go.uber.org/fx"
)

// Options are what a host decides about its runtime. The zero value is a host without files: every plugin that it lists
// is on, nothing is written, and logs are dropped.
type Options struct {
	// HostVersion is compared with MinHostVersion of each plugin.
	HostVersion string
	// Logger takes what must not be shown: text of errors and panics of plugin code, and the log of each plugin.
	Logger *slog.Logger
	// Timeouts are the limits; see there.
	Timeouts Timeouts
	// Shared are host values that constructors may ask for by type.
	Shared []Shared
	// Private lists further types that may never be shared, such as the host's store.
	Private []reflect.Type
	// Extend gives options for the graph of one generation: values that differ from plugin to plugin. It is called for
	// the check of the graph too, so it must not do anything; its constructors run only when somebody asks.
	Extend func(Facts) fx.Option
	// Inputs reads what the host's files say. It is called at the start and by each Reconcile. Nil: there are none.
	Inputs func(context.Context) (Inputs, error)
	// Switches are the switches of this process alone: they beat whatever Inputs says.
	Switches map[string]bool
	// Persist writes a switch. Nil: a persistent switch cannot be written.
	Persist func(context.Context, Switch) error
	// DataDirs names the data directories of a plugin; directory is its manifest directory or, without one, its id.
	// Nil: there are none.
	DataDirs func(directory string) Directories
	// Describe lists the tools of a plugin that has just become active, before its background work starts. It must not
	// call an operation of the runtime. Nil: none are shown.
	Describe func(context.Context, Facts) []string
	// Release asks the holders of directory-backed parts of the plugins to let go, before they are quiesced; Resume
	// tells them that the plugins come back. Nil: there are no holders.
	Release func(ctx context.Context, ids []string) error
	Resume  func(ctx context.Context, ids []string)
	// WriteSettings writes the settings of a plugin in one scope, for [Runtime.ChangeSettings]: atomically, under a lock
	// against other processes, and with the parts of other plugins as they are. A part without members is removed. An
	// error that matches [ErrNoScope] says that the scope has no directory. Nil: no scope has one.
	WriteSettings func(ctx context.Context, scope SettingsScope, id string, changes []SettingsChange) error
}

// logger returns the logger, or one that drops everything.
func (o Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}
