package home

import (
	"os"
	"path/filepath"
	"strings"
)

// Dir is the home directory: an absolute path that need not exist.
type Dir string

// Find finds the home directory: option, else the variable CRYSTAL_HOME, else .crystal in the user's home directory. env
// reads the environment. It creates nothing.
func Find(option string, env func(string) string) (Dir, error) {
	path := option
	if path == "" {
		path = strings.TrimSpace(env("CRYSTAL_HOME"))
	}
	if path == "" {
		user := env("HOME")
		if user == "" {
			found, err := os.UserHomeDir()
			if err != nil || found == "" {
				return "", ErrNoHome
			}
			user = found
		}
		path = filepath.Join(user, ".crystal")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", ErrNoHome
	}
	return Dir(abs), nil
}

// Path joins names to the directory.
func (d Dir) Path(names ...string) string {
	return filepath.Join(append([]string{string(d)}, names...)...)
}

// Files of the home directory, and of the project tree.
const (
	ConfigFile         = "config.json"
	ProvidersFile      = "providers.json"
	CredentialsFile    = "credentials.json"
	PermissionsFile    = "permissions.json"
	TrustFile          = "workspace-trust.json"
	PluginSettingsFile = "plugin-settings.json"
	ManifestFile       = "plugin.json"
	ToolSetFile        = "tools.json"
)
