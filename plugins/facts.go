package plugins

// Facts says which generation of which plugin is being built, and in which host. A constructor may ask for it.
type Facts struct {
	ID          string // plugin id
	Version     string // plugin version
	Generation  string // generation id; "module" when the plugin is installed as a module
	HostVersion string // as the host gave it; may be blank
}
