package export

import (
	"errors"
	"fmt"
)

// ErrSealed is returned when something is exported or imported after the plugin has started.
var ErrSealed = errors.New("export: sealed: exports and imports are resolved while the plugin is being built")

// ExportError is a refused export. The plugin that exports does not start.
type ExportError struct {
	Contract string // package path and name of the interface
	Reason   Reason
}

// Error names the contract and how to put it right.
func (e *ExportError) Error() string {
	return fmt.Sprintf("export: %s cannot be exported: %s (%s)", e.Contract, e.Reason, advice[e.Reason])
}

// ImportError is a refused import. The plugin that imports does not start.
type ImportError struct {
	Provider string // plugin id
	Contract string // package path and name of the interface
	Reason   Reason
}

// Error names the provider, the contract and how to put it right.
func (e *ImportError) Error() string {
	return fmt.Sprintf("export: %s cannot be imported from %q: %s (%s)", e.Contract, e.Provider, e.Reason, advice[e.Reason])
}

var advice = map[Reason]string{
	NotInterface: "use a named interface with at least one method",
	NotPublic:    "use an exported interface without unexported methods in a package that others can import",
	Foreign:      "declare an interface in a package of the plugin",
	Duplicate:    "export one implementation",
	Nil:          "export a value",
	NotDirect:    "name the provider among the plugin's requirements",
	NotExported:  "let the provider export it, or require a version that does",
}
