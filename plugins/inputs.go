package plugins

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
