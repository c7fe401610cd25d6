package plugins

import "encoding/json"

// Settings are the settings of one generation, fixed for its whole life. A constructor may ask for them. The zero value
// is an empty object.
type Settings struct {
	object map[string]any
	keep   any // the lifetime of the generation: whoever keeps the settings keeps the generation
}

// Keys returns the keys that have a value, sorted.
func (s Settings) Keys() []string { panic("stub") }

// Text returns the string of a text or select field, blank when it has none.
func (s Settings) Text(key string) string { panic("stub") }

// Number returns the number of a field, 0 when it has none.
func (s Settings) Number(key string) float64 { panic("stub") }

// Bool returns the boolean of a field, false when it has none.
func (s Settings) Bool(key string) bool { panic("stub") }

// List returns a copy of the strings of a field.
func (s Settings) List(key string) []string { panic("stub") }

// Map returns a copy of the object of strings of a field.
func (s Settings) Map(key string) map[string]string { panic("stub") }

// JSON returns the field as JSON, or null when it has no value.
func (s Settings) JSON(key string) json.RawMessage { panic("stub") }

// Decode stores all settings in the value that into points to, as encoding/json does.
func (s Settings) Decode(into any) error { panic("stub") }
