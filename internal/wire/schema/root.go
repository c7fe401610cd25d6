package schema

import (
	"bytes"
	"errors"

	"github.com/crystalkernel/crystal/internal/wire/rawjson"
)

// ErrNotObject is returned for a schema whose root is not a JSON object.
var ErrNotObject = errors.New("the schema is not a JSON object")

// refused are the keywords that several providers refuse at the root.
func refused(key []byte) bool {
	switch string(key) {
	case "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum":
		return true
	}
	return false
}

// Root appends schema with "type": "object" at its root. When strip is set, alternatives and conditions at the root are
// left out. All else stays as it is, byte for byte.
func Root(dst, schema []byte, strip bool) ([]byte, error) {
	var s rawjson.Scanner
	s.Reset(schema)
	if s.Kind() != rawjson.Object {
		return dst, ErrNotObject
	}
	start := len(dst)
	typed, changed := false, false
	dst = append(dst, '{')
	for s.Object(); s.Next(); {
		key := s.Key()
		switch {
		case string(key) == "type":
			typed = true
			if string(s.Raw()) != `"object"` {
				changed = true
			}
			dst = append(dst, `"type":"object",`...)
			continue
		case strip && refused(key):
			changed = true
			s.Skip()
			continue
		}
		dst = rawjson.AppendString(dst, string(key))
		dst = append(dst, ':')
		dst = append(dst, s.Raw()...)
		dst = append(dst, ',')
	}
	if s.End() != nil {
		return dst[:start], ErrNotObject
	}
	if typed && !changed {
		return append(dst[:start], bytes.TrimSpace(schema)...), nil
	}
	if !typed {
		dst = append(dst, `"type":"object",`...)
	}
	dst[len(dst)-1] = '}'
	return dst, nil
}
