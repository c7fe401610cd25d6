package plugins

import "go.uber.org/fx"

// AsModule installs the plugin straight into a host's fx app as a trusted module: origin module:<id>, direct values, no
// guard and no gate.
func (p Plugin) AsModule() fx.Option { panic("stub") }
