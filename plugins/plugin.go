package plugins

import (
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/deps"
)

// Plugin is what an author writes: an identity, what it requires, and an fx module. It is a plain value; copies are
// equal in meaning. One Module serves two ways of use with no change to it: in a generation of a [Runtime], and
// installed straight into a host with [Plugin.AsModule].
//
// A field that breaks its rule blocks the plugin with [PluginManifestInvalid] and stops no other.
type Plugin struct {
	// ID is the identity: lower-case words joined by dots or hyphens, beginning with a letter, at most 64 bytes.
	ID string
	// Version is three numbers, as [deps.ParseVersion] reads them.
	Version string
	// Name is shown to people; the id when blank. It is unique among loaded plugins, without case.
	Name string
	// MinHostVersion is the lowest host version; blank for any.
	MinHostVersion string
	// Requires maps the id of each direct provider to the lowest version that serves.
	Requires deps.Requirements
	// Settings declares the settings that the plugin takes.
	Settings []Field
	// Module is the body: constructors, contributions, exports, imports. Nil is a plugin without any.
	Module fx.Option
}

// DisplayName returns the name, or the id when the name is blank.
func (p Plugin) DisplayName() string {
	if p.Name == "" {
		return p.ID
	}
	return p.Name
}

func (p Plugin) module() fx.Option {
	if p.Module == nil {
		return fx.Options()
	}
	return p.Module
}
