package contrib

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// EntryInfo is one entry without its value.
type EntryInfo struct {
	ID         uint64 // of the entry; for a stand-in, of the entry that was lost
	Point      string // name of the point
	Origin     Origin
	Order      int
	Name       string        // target name that others may replace
	Replaces   string        // target name that this entry shadows
	Thread     ThreadID      // blank: workspace scope
	Label      string        // shown in notes
	Deadline   time.Duration // of one call; zero: the caller's own deadline alone counts
	Meta       any           // what Describe returned
	ShadowedBy uint64        // id of the entry that shadows it; 0 when effective
	Held       bool          // true for the stand-in of a held target
}

// Occupies reports whether the entry's name or replaced name is target.
func (e *EntryInfo) Occupies(target string) bool { return e.Name == target || e.Replaces == target }

// String returns the text form of the id: contribution:<n>.
func (e *EntryInfo) String() string { return "contribution:" + strconv.FormatUint(e.ID, 10) }

// Entry is one resolved entry.
type Entry[T any] struct {
	EntryInfo
	Value T
}

// entry is one contribution as the registry keeps it. It does not change once it is published, conflicted aside.
type entry struct {
	info  EntryInfo
	point *definition
	// value is what views hand out: the guard of a plugin's value, or the value itself.
	value  any
	handle *Handle // nil for a stand-in
	owned  bool    // the registry closes value when the entry is revoked

	conflicted bool // a ReplaceConflict was recorded; under the registry's lock
}

// byPlace sorts entries as lists show them: order, then id.
func byPlace(a, b *entry) int {
	if c := cmp.Compare(a.info.Order, b.info.Order); c != 0 {
		return c
	}
	return cmp.Compare(a.info.ID, b.info.ID)
}

func (e *entry) arc() bool { return e.info.Name != "" && e.info.Replaces != "" }

// isNil reports whether value is nil or an interface that holds a nil.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return v.IsNil()
	default:
		return false
	}
}

// shortName is the name of the value's type without its package and type arguments.
func shortName(value any) string {
	t := reflect.TypeOf(value)
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	name := t.Name()
	if name == "" {
		name = t.String()
	}
	name, _, _ = strings.Cut(name, "[")
	if name == "" {
		name = t.Kind().String()
	}
	for utf8.RuneCountInString(name) > maxLabel {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return name
}
