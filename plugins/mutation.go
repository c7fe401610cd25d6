package plugins

// SettingsScope is a place where settings are written.
type SettingsScope string

// The scopes of settings.
const (
	SettingsHome      SettingsScope = "home"
	SettingsWorkspace SettingsScope = "workspace"
)
