package plugins

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Settings are the settings of one generation, fixed for its whole life. A constructor may ask for them. Keys are those
// that the plugin declared; a field that has neither a value nor a default gives the zero value of its type. The zero
// value is an empty object. Settings may be read from any goroutine.
type Settings struct {
	object map[string]any
	keep   any // whoever keeps the settings keeps the generation, so that it shows as a leak
}

// Keys returns the keys that have a value, sorted.
func (s Settings) Keys() []string { return slices.Sorted(maps.Keys(s.object)) }

// Text returns the string of a text or select field.
func (s Settings) Text(key string) string {
	v, _ := s.object[key].(string)
	return v
}

// Number returns the number of a field.
func (s Settings) Number(key string) float64 {
	v, _ := s.object[key].(float64)
	return v
}

// Bool returns the boolean of a field.
func (s Settings) Bool(key string) bool {
	v, _ := s.object[key].(bool)
	return v
}

// List returns the strings of a list field. The slice belongs to the caller.
func (s Settings) List(key string) []string {
	list, _ := s.object[key].([]any)
	out := make([]string, 0, len(list))
	for _, v := range list {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Map returns the strings of a map field. The map belongs to the caller.
func (s Settings) Map(key string) map[string]string {
	object, _ := s.object[key].(map[string]any)
	out := make(map[string]string, len(object))
	for k, v := range object {
		if text, ok := v.(string); ok {
			out[k] = text
		}
	}
	return out
}

// JSON returns a field of any type as JSON; null when it has no value.
func (s Settings) JSON(key string) json.RawMessage {
	raw, err := json.Marshal(s.object[key])
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// Decode stores all settings in the value that into points to, as encoding/json does.
func (s Settings) Decode(into any) error {
	raw, err := s.MarshalJSON()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("plugins: decode settings: %w", err)
	}
	return nil
}

// MarshalJSON implements json.Marshaler: the object of all settings.
func (s Settings) MarshalJSON() ([]byte, error) {
	if s.object == nil {
		return []byte("{}"), nil
	}
	raw, err := json.Marshal(s.object)
	if err != nil {
		return nil, fmt.Errorf("plugins: encode settings: %w", err)
	}
	return raw, nil
}
