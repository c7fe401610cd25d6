package plugins

// FieldType is the type of a settings field.
type FieldType string

// The types of settings fields.
const (
	TextField   FieldType = "text"   // string
	NumberField FieldType = "number" // finite number, within Min and Max
	BoolField   FieldType = "bool"   // boolean
	SelectField FieldType = "select" // one of Options, byte by byte
	ListField   FieldType = "list"   // array of strings
	MapField    FieldType = "map"    // object of strings
	JSONField   FieldType = "json"   // any JSON
)

// Field declares one setting of a plugin.
type Field struct {
	Key     string    // a letter, then letters, digits or underscores, at most 64; unique without case
	Type    FieldType // required
	Default any       // nil for none; otherwise a valid value: string, bool, float64 or int, []string, map[string]string, or anything that marshals to JSON for JSONField
	Options []string  // the values of a SelectField, and of no other
	Min     *float64  // lowest value of a NumberField, and of no other
	Max     *float64  // highest value of a NumberField, and of no other
	// HomeOnly refuses the field in every layer of a workspace: for what a checked-out repository must not decide.
	HomeOnly bool
	Doc      string // one sentence
}
