package schema

// Reason says what is wrong with argument text.
type Reason string

// The reasons.
const (
	NotJSON      Reason = "notJson"      // not one JSON text
	TrailingText Reason = "trailingText" // something follows the object
	DuplicateKey Reason = "duplicateKey" // an object names a key twice
	NotObject    Reason = "notObject"    // JSON, and not an object
	TooLarge     Reason = "tooLarge"     // over 16 MiB
	TooDeep      Reason = "tooDeep"      // nested over 128 deep
	Unsatisfied  Reason = "schema"       // an object that does not satisfy the schema
)

// Fault says why arguments are not usable.
type Fault struct {
	Reason Reason
	Offset int         // byte offset in the text; -1 when there is none
	Errors []Violation // for Unsatisfied: at most 20, in document order
}

// Violation is one place where an instance breaks a schema.
type Violation struct {
	Pointer string `json:"pointer"` // JSON pointer into the instance
	Schema  string `json:"schema"`  // JSON pointer into the schema
	Keyword string `json:"keyword"`
	Text    string `json:"text"`
}
