package status

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
)

// Field is a field of the status line that a plugin fills through [Updates]. Where it is shown is the operator's choice.
type Field struct {
	Name        string // ^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$, at most 32 characters, kept in lower case
	Description string // 80 characters of it are shown
}

// Updates pushes texts of fields. Calls may come from any goroutine; what comes before the first frame is kept for it.
type Updates interface {
	// Set shows text, cleaned to one line of 64 characters; a blank text clears.
	Set(name, text string)
	// Clear removes the text.
	Clear(name string)
}

var (
	fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$`)

	builtinFields = []string{
		"activity", "approval", "context-left", "context-tokens", "context-used", "elapsed", "model", "prompt-set",
		"queued", "request-input", "request-output", "request-total", "session-input", "session-output",
		"session-total", "thinking", "tools", "workspace",
	}
)

// BuiltinFields returns the names of the host's own fields, sorted.
func BuiltinFields() []string { return slices.Clone(builtinFields) }

// Fields is the point status.field.
var Fields = contrib.Define(contrib.Spec[Field]{
	Name: "status.field", Doc: "Adds a field that the operator can put on the status line.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.Admitted, Failure: contrib.Skip,
	Describe: func(f Field) (any, error) { return describe(f) },
	// A field is data: the copy that Describe made stands for it.
	Guard: func(_ Field, meta any, _ contrib.Ref) Field { return meta.(Field) },
})

func describe(f Field) (Field, error) {
	name := strings.ToLower(strings.TrimSpace(f.Name))
	switch {
	case !fieldName.MatchString(name) || len(name) > 32:
		return Field{}, fmt.Errorf("the field name %.80q is not made of words of letters and digits joined by single hyphens, 32 characters at most", f.Name)
	case name == "on" || name == "off" || name == "reset":
		return Field{}, errors.New("the field names on, off and reset are words of the host")
	}
	if _, own := slices.BinarySearch(builtinFields, name); own {
		return Field{}, fmt.Errorf("the field name %q belongs to the host", name)
	}
	return Field{Name: name, Description: strings.TrimSpace(f.Description)}, nil
}
