package plugins

import (
	"context"
	"log/slog"
	"reflect"
	"time"

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
	// Describe lists the tools of a plugin that has just become active. Nil: none are shown.
	Describe func(context.Context, Facts) []string
	// Release asks the holders of directory-backed parts of the plugins to let go, before they are quiesced; Resume
	// tells them that the plugins come back. Nil: there are no holders.
	Release func(ctx context.Context, ids []string) error
	Resume  func(ctx context.Context, ids []string)
	// SettingsFile names the settings document of a scope, for changes of settings; blank when the scope has none.
	SettingsFile func(scope SettingsScope) string
}

// Timeouts are the limits of a runtime. A zero field takes its default; a negative one is an error.
type Timeouts struct {
	Activation     time.Duration // of one activation; 30 s
	Cleanup        time.Duration // how long an operation waits for a teardown; 30 s
	Collection     time.Duration // last sweep for leaked generations at shutdown; 5 s
	PollFirst      time.Duration // first interval of the leak watch, doubling while nothing changes; 250 ms
	PollHighest    time.Duration // highest interval of the leak watch; 30 s
	RestartAt      int           // leaked generations of one plugin before a restart is recommended; 3
	LeakStacks     int           // goroutine stacks in one leak report; 16
	LeakStackBytes int           // bytes of one stack; 8 KiB
	Diagnostics    int           // diagnostics kept for each plugin; 32
}

// Inputs is what the files of a host say about plugins.
type Inputs struct {
	Placements []Placement   // the effective plugin directories
	Disabled   []string      // ids that are switched off by the configuration
	Home       SettingsLayer // {home}/plugin-settings.json
	Workspace  SettingsLayer // the workspace's plugin-settings.json
}

// Placement is one effective plugin directory.
type Placement struct {
	ID        string
	Directory string // name of the directory
	Source    Source // SourceHome or SourceProject
	Enabled   bool
	Settings  map[string]any // the manifest's layer of settings
}

// SettingsLayer is one settings document: the settings of each plugin, by id.
type SettingsLayer struct {
	Plugins map[string]map[string]any
	Err     error // why the document cannot be used; blocks every plugin that declares settings
}

// Switch is a switch to be written.
type Switch struct {
	ID        string
	On        bool
	Directory string // blank: the host's list of disabled plugins holds the switch
	Source    Source
}

// SettingsScope is a place where settings are written.
type SettingsScope string

// The scopes of settings.
const (
	SettingsHome      SettingsScope = "home"
	SettingsWorkspace SettingsScope = "workspace"
)
