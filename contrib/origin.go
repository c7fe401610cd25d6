package contrib

import (
	"errors"
	"strings"
)

// Kinds of origins.
const (
	kindBuiltin = "builtin"
	kindModule  = "module"
	kindPlugin  = "plugin"
)

// Origin says who added an entry. The zero value is nobody. Origins compare with ==.
type Origin struct{ kind, id, generation string }

// Builtin is the host itself.
func Builtin() Origin { return Origin{kind: kindBuiltin} }

// Module is a named module of the host. A blank name is an error.
func Module(name string) (Origin, error) {
	if strings.TrimSpace(name) == "" {
		return Origin{}, errors.New("contrib: a module origin needs a name")
	}
	return Origin{kind: kindModule, id: name}, nil
}

// Plugin is one generation of a plugin. A blank id or generation is an error.
func Plugin(id, generation string) (Origin, error) {
	if strings.TrimSpace(id) == "" {
		return Origin{}, errors.New("contrib: a plugin origin needs a plugin id")
	}
	if strings.TrimSpace(generation) == "" {
		return Origin{}, errors.New("contrib: the origin of plugin " + id + " needs a generation id")
	}
	return Origin{kind: kindPlugin, id: id, generation: generation}, nil
}

// Kind is "builtin", "module" or "plugin"; blank for nobody.
func (o Origin) Kind() string { return o.kind }

// ID is the module name or plugin id; blank for builtin.
func (o Origin) ID() string { return o.id }

// Generation is the generation id of a plugin origin; blank for the others.
func (o Origin) Generation() string { return o.generation }

// String returns builtin, module:<name> or plugin:<id>@<generation>.
func (o Origin) String() string {
	switch o.kind {
	case kindModule:
		return "module:" + o.id
	case kindPlugin:
		return "plugin:" + o.id + "@" + o.generation
	default:
		return o.kind
	}
}
