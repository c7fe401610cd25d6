package jsonc

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tailscale/hujson"
)

// Object is one object of a file. It does not change.
type Object struct {
	path   string // of the object in its file; blank for the root
	keys   []string
	values map[string]hujson.Value // the last one of each key
	twice  []string                // keys that appear more than once, each once
}

func newObject(o *hujson.Object, path string) *Object {
	out := &Object{path: path, values: make(map[string]hujson.Value, len(o.Members))}
	seen := make(map[string]int, len(o.Members))
	for _, m := range o.Members {
		key := m.Name.Value.(hujson.Literal).String()
		if seen[key]++; seen[key] == 1 {
			out.keys = append(out.keys, key)
		} else if seen[key] == 2 {
			out.twice = append(out.twice, key)
		}
		out.values[key] = m.Value
	}
	return out
}

// Keys returns the keys in the order of their first appearance.
func (o *Object) Keys() []string { return o.keys }

// Has reports whether the object has the key, whatever its value.
func (o *Object) Has(key string) bool {
	_, ok := o.values[key]
	return ok
}

// Path returns the path of a key in the file, as notes show it: "limits.modelCalls".
func (o *Object) Path(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// Object returns the object that is the value of key; ok is false when there is none.
func (o *Object) Object(key string) (inner *Object, ok bool) {
	value, ok := o.values[key].Value.(*hujson.Object)
	if !ok {
		return nil, false
	}
	return newObject(value, o.Path(key)), true
}

// Objects returns the objects among the elements of the array that is the value of key.
func (o *Object) Objects(key string) []*Object {
	arr, _ := o.values[key].Value.(*hujson.Array)
	if arr == nil {
		return nil
	}
	var out []*Object
	for i, e := range arr.Elements {
		if inner, ok := e.Value.(*hujson.Object); ok {
			out = append(out, newObject(inner, o.Path(key)+"["+strconv.Itoa(i)+"]"))
		}
	}
	return out
}

// Text returns the string that is the value of key; ok is false when there is none.
func (o *Object) Text(key string) (text string, ok bool) {
	lit, ok := literal(o.values[key], '"')
	if !ok {
		return "", false
	}
	return lit.String(), true
}

// JSON returns the value of key as plain JSON, without comments and needless blanks; nil when the key is missing.
func (o *Object) JSON(key string) json.RawMessage {
	value, ok := o.values[key]
	if !ok {
		return nil
	}
	return plain(value)
}

// Decode returns the object that is the value of key as encoding/json decodes it.
func (o *Object) Decode(key string) (map[string]any, error) {
	var out map[string]any
	if err := json.Unmarshal(o.JSON(key), &out); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Path(key), err)
	}
	return out, nil
}

// plain returns v as plain JSON.
func plain(v hujson.Value) json.RawMessage {
	v = v.Clone()
	v.BeforeExtra, v.AfterExtra = nil, nil
	v.Minimize()
	return v.Pack()
}

// literal returns v when it is a literal of that kind.
func literal(v hujson.Value, kind hujson.Kind) (hujson.Literal, bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != kind {
		return nil, false
	}
	return lit, true
}
