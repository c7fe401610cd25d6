package export

import (
	"go/token"
	"reflect"
	"slices"
	"strings"
)

// Reason says why an export or an import is refused. Its text is the reason code that a host reports.
type Reason string

// The reasons of refused exports.
const (
	NotInterface Reason = "notInterface" // no named interface with a method; of imports too
	NotPublic    Reason = "notPublic"    // not every package can use the interface
	Foreign      Reason = "foreign"      // the interface belongs to the standard library or to Crystal
	Duplicate    Reason = "duplicate"    // the plugin exports the interface twice
	Nil          Reason = "nil"          // there is no value
)

// The reasons of refused imports.
const (
	NotDirect   Reason = "notDirect"   // the consumer does not require the provider
	NotExported Reason = "notExported" // the provider does not export the interface
)

// house is the module whose interfaces are shared through its own contribution points instead.
const house = "github.com/crystalkernel/crystal"

// Contract names an interface: its package path and its name.
func Contract[T any]() string { return contractOf(reflect.TypeFor[T]()) }

func contractOf(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}

// check tells why t cannot be exported; blank when it can.
func check(t reflect.Type) Reason {
	switch {
	case t.Kind() != reflect.Interface || t.Name() == "" || t.NumMethod() == 0:
		return NotInterface
	case standard(t.PkgPath()) || own(t.PkgPath()):
		return Foreign
	case !token.IsExported(t.Name()) || closed(t) || hidden(t.PkgPath()):
		return NotPublic
	}
	return ""
}

// closed reports whether only one package can implement the interface.
func closed(t reflect.Type) bool {
	for i := range t.NumMethod() {
		if !t.Method(i).IsExported() {
			return true
		}
	}
	return false
}

// hidden reports whether other packages cannot import the path.
func hidden(path string) bool {
	return path == "main" || slices.Contains(strings.Split(path, "/"), "internal")
}

// own reports whether the path is one of Crystal's rooms. Its examples and external tests stand for somebody else's code.
func own(path string) bool {
	if path != house && !strings.HasPrefix(path, house+"/") {
		return false
	}
	return !strings.HasSuffix(path, "_test") && !strings.HasPrefix(path, house+"/examples/")
}

// standard reports whether the path belongs to the standard library. The first element decides: those of other modules
// have a dot, or at least are none of these.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	_, found := slices.BinarySearch(standardRoots, first)
	return path == "" || found
}

// standardRoots is sorted.
var standardRoots = []string{
	"archive", "arena", "bufio", "builtin", "bytes", "cmp", "compress", "container", "context", "crypto", "database",
	"debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter",
	"log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "simd", "slices", "sort",
	"strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe",
	"vendor", "weak",
}
