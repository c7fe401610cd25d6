package plugins

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
)

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

// checkFields returns the first field whose declaration is not valid, and why; blank when all are.
func checkFields(fields []Field) (key, reason string) {
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		lower := strings.ToLower(f.Key)
		switch {
		case f.Key == "":
			return f.Key, "missing"
		case !fieldKey.MatchString(f.Key):
			return f.Key, "invalidFormat"
		case seen[lower]:
			return f.Key, "duplicate"
		case !f.wellTyped():
			return f.Key, "invalidType"
		}
		seen[lower] = true
		if f.Default == nil {
			continue
		}
		if _, fault := f.value(plain(f.Default)); fault != "" {
			return f.Key, "invalidType"
		}
	}
	return "", ""
}

var fieldKey = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,63}$`)

// wellTyped reports whether the field has a known type and only the limits that go with it.
func (f Field) wellTyped() bool {
	number := f.Type == NumberField
	if (f.Min != nil || f.Max != nil) && !number || f.Min != nil && f.Max != nil && *f.Min > *f.Max {
		return false
	}
	if (f.Type == SelectField) != (len(f.Options) > 0) {
		return false
	}
	switch f.Type {
	case TextField, NumberField, BoolField, SelectField, ListField, MapField, JSONField:
		return true
	}
	return false
}

// value checks one JSON value against the field. fault is blank, or one of type, range, option.
func (f Field) value(v any) (checked any, fault string) {
	switch f.Type {
	case TextField:
		_, ok := v.(string)
		return v, faultUnless(ok)
	case BoolField:
		_, ok := v.(bool)
		return v, faultUnless(ok)
	case NumberField:
		n, ok := v.(float64)
		if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, "type"
		}
		if f.Min != nil && n < *f.Min || f.Max != nil && n > *f.Max {
			return nil, "range"
		}
		return n, ""
	case SelectField:
		s, ok := v.(string)
		if !ok {
			return nil, "type"
		}
		if !slices.Contains(f.Options, s) {
			return nil, "option"
		}
		return s, ""
	case ListField:
		list, ok := v.([]any)
		return v, faultUnless(ok && !slices.ContainsFunc(list, notText))
	case MapField:
		object, ok := v.(map[string]any)
		for _, member := range object {
			ok = ok && !notText(member)
		}
		return v, faultUnless(ok)
	}
	return v, ""
}

func faultUnless(ok bool) string {
	if ok {
		return ""
	}
	return "type"
}

func notText(v any) bool {
	_, text := v.(string)
	return !text
}

// plain turns a Go value into what encoding/json makes of it: float64, string, bool, []any, map[string]any or nil. What
// cannot be marshalled comes back as it is, and no field takes it.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return v
	}
	return out
}
