package status

import (
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
//
// Each generation of a plugin has its own, with the fields that it has contributed. A name that is not among them is
// ignored, with one note. Once the generation has stopped, calls do nothing.
type Updates interface {
	// Set shows text, cleaned to one line of 64 characters; a blank text clears. It never fails.
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

// Builtin reports whether name, in lower case, is that of a field of the host.
func Builtin(name string) bool {
	_, own := slices.BinarySearch(builtinFields, name)
	return own
}

// Fields is the point status.field. Every field is added; [Admit] says which of them have their names.
var Fields = contrib.Define(contrib.Spec[Field]{
	Name: "status.field", Doc: "Adds a field that the operator can put on the status line.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.Admitted, Failure: contrib.Skip,
	Describe: func(f Field) (any, error) {
		return Field{Name: strings.ToLower(strings.TrimSpace(f.Name)), Description: strings.TrimSpace(f.Description)}, nil
	},
	// A field is data: the copy that Describe made stands for it.
	Guard: func(_ Field, meta any, _ contrib.Ref) Field { return meta.(Field) },
})
