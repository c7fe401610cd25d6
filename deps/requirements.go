package deps

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Requirements maps the id of each direct provider to the lowest version that serves. Nil requires nothing.
type Requirements map[string]string

// Fault says why a requirement is not valid. Its text is the reason code that the host reports.
type Fault string

// The faults of requirements.
const (
	SelfDependency Fault = "selfDependency" // a plugin requires itself
	Duplicate      Fault = "duplicate"      // two spellings of one id
	InvalidFormat  Fault = "invalidFormat"  // an id or a version that breaks its grammar
)

// RequirementError is the first fault of a set of requirements.
type RequirementError struct {
	ID    string // the id as it was written
	Fault Fault
}

// Error names the id and the fault.
func (e *RequirementError) Error() string {
	return fmt.Sprintf("deps: requirement %q: %s", e.ID, e.Fault)
}

// ValidID reports whether id is the id of a plugin: words of lower-case letters and digits that are joined by single
// dots or hyphens, beginning with a letter, at most 64 bytes.
func ValidID(id string) bool {
	if id == "" || len(id) > 64 || id[0] < 'a' || id[0] > 'z' {
		return false
	}
	joined := false // the last byte was a joint
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			joined = false
		case (c == '.' || c == '-') && !joined:
			joined = true
		default:
			return false
		}
	}
	return !joined
}

// Check reports the first fault of the requirements of the plugin self, in the order of their ids, as a
// *[RequirementError], or nil. Ids are compared without case, so that no spelling hides a self requirement.
func (r Requirements) Check(self string) error {
	seen := make(map[string]bool, len(r))
	for _, id := range slices.Sorted(maps.Keys(r)) {
		lower := strings.ToLower(id)
		switch {
		case lower == strings.ToLower(self):
			return &RequirementError{ID: id, Fault: SelfDependency}
		case seen[lower]:
			return &RequirementError{ID: id, Fault: Duplicate}
		}
		seen[lower] = true
	}
	for _, id := range slices.Sorted(maps.Keys(r)) {
		if _, err := ParseVersion(r[id]); err != nil || !ValidID(id) {
			return &RequirementError{ID: id, Fault: InvalidFormat}
		}
	}
	return nil
}
