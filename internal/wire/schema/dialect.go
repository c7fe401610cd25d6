package schema

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/crystalkernel/crystal/internal/wire/rawjson"
)

// Cache keeps schemas in the dialect of gemini. The zero value is ready; it is safe for use by several goroutines.
type Cache struct {
	mu   sync.Mutex
	done map[string][]byte // by the schema; guarded by mu
}

// mostCached bounds a cache; then it begins anew.
const mostCached = 1024

// Dialect is [Dialect], done once for each schema. The result must not be changed.
func (c *Cache) Dialect(schema []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d, ok := c.done[string(schema)]; ok {
		return d, nil
	}
	d, err := Dialect(schema)
	if err != nil {
		return nil, err
	}
	if c.done == nil || len(c.done) >= mostCached {
		c.done = map[string][]byte{}
	}
	c.done[string(schema)] = d
	return d, nil
}

// Dialect returns schema in the subset of OpenAPI that gemini reads: local references are put in place, a type that may
// be null becomes nullable, const becomes an enum of one, and keywords that it does not know are left out.
func Dialect(schema []byte) ([]byte, error) {
	var s rawjson.Scanner
	s.Reset(schema)
	if s.Kind() != rawjson.Object || !rawjson.Valid(schema) {
		return nil, ErrNotObject
	}
	d := dialect{root: schema}
	rooted, err := Root(nil, d.schema(nil, schema), false)
	if err != nil {
		return nil, err
	}
	return rooted, nil
}

// dialect translates one schema.
type dialect struct {
	root []byte
	open []string // references that are being put in place
	size int
	seen map[string][]byte // what references name
}

// mostGrown bounds what references that are put in place many times make of a schema.
const mostGrown = 1 << 20

// anything stands for a schema that refers to itself, which can't be written without references.
const anything = `{"type":"object"}`

// kept are the keywords whose values are taken as they are.
func kept(key []byte) bool {
	switch string(key) {
	case "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "required", "minProperties",
		"maxProperties", "minLength", "maxLength", "pattern", "example", "propertyOrdering", "default", "minimum", "maximum":
		return true
	}
	return false
}

// schema appends one schema.
func (d *dialect) schema(dst, raw []byte) []byte {
	if d.size += len(raw); d.size > mostGrown {
		return append(dst, anything...)
	}
	var s rawjson.Scanner
	s.Reset(raw)
	if s.Kind() != rawjson.Object {
		return append(dst, "{}"...) // true: anything goes
	}
	if ref := member(raw, "$ref"); ref != nil {
		s.Reset(ref)
		return d.reference(dst, s.Text(), raw)
	}
	dst = append(dst, '{')
	for s.Object(); s.Next(); {
		key := s.Key()
		switch string(key) {
		case "type":
			dst = kind(dst, s.Raw())
		case "const":
			dst = append(append(dst, `"enum":[`...), s.Raw()...)
			dst = append(dst, "],"...)
		case "properties":
			dst = append(dst, `"properties":`...)
			dst = append(d.properties(dst, &s), ',')
		case "items":
			dst = append(dst, `"items":`...)
			dst = append(d.schema(dst, s.Raw()), ',')
		case "anyOf":
			dst = append(dst, `"anyOf":[`...)
			for s.Array(); s.Next(); {
				dst = append(d.schema(dst, s.Raw()), ',')
			}
			dst = append(rawjson.Close(dst, ']'), ',')
		default:
			if !kept(key) {
				s.Skip()
				continue
			}
			dst = append(rawjson.AppendString(dst, string(key)), ':')
			dst = append(append(dst, s.Raw()...), ',')
		}
	}
	return rawjson.Close(dst, '}')
}

func (d *dialect) properties(dst []byte, s *rawjson.Scanner) []byte {
	dst = append(dst, '{')
	for s.Object(); s.Next(); {
		dst = append(rawjson.AppendString(dst, string(s.Key())), ':')
		dst = append(d.schema(dst, s.Raw()), ',')
	}
	return rawjson.Close(dst, '}')
}

// reference puts the schema that ref names in place. A description beside the reference wins.
func (d *dialect) reference(dst []byte, ref string, from []byte) []byte {
	target, known := d.seen[ref]
	if !known {
		target = d.find(ref)
		if d.seen == nil {
			d.seen = map[string][]byte{}
		}
		d.seen[ref] = target
	}
	if target == nil {
		return append(dst, anything...)
	}
	for _, open := range d.open {
		if open == ref {
			return append(dst, anything...)
		}
	}
	d.open = append(d.open, ref)
	start := len(dst)
	dst = d.schema(dst, target)
	d.open = d.open[:len(d.open)-1]
	about := member(from, "description")
	if about == nil {
		return dst
	}
	inner := bytes.Clone(dst[start:])
	var s rawjson.Scanner
	s.Reset(inner)
	dst = append(dst[:start], '{')
	for s.Object(); s.Next(); {
		if string(s.Key()) == "description" {
			s.Skip()
			continue
		}
		dst = append(rawjson.AppendString(dst, string(s.Key())), ':')
		dst = append(append(dst, s.Raw()...), ',')
	}
	dst = append(dst, `"description":`...)
	return append(append(dst, about...), '}')
}

// find follows a local reference such as #/$defs/name.
func (d *dialect) find(ref string) []byte {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	at := d.root
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(step)
		if at = child(at, step); at == nil {
			return nil
		}
	}
	return at
}

// child returns a member of an object or an element of an array.
func child(raw []byte, step string) []byte {
	var s rawjson.Scanner
	s.Reset(raw)
	if s.Kind() == rawjson.Object {
		return member(raw, step)
	}
	n, err := strconv.Atoi(step)
	if err != nil {
		return nil
	}
	for s.Array(); s.Next(); n-- {
		if n == 0 {
			return s.Raw()
		}
		s.Skip()
	}
	return nil
}

func member(raw []byte, key string) (value []byte) {
	var s rawjson.Scanner
	s.Reset(raw)
	for s.Object(); s.Next(); {
		if string(s.Key()) == key {
			value = s.Raw()
			continue
		}
		s.Skip()
	}
	return value
}

// kind writes a type; a list of types becomes one type, or alternatives, and the null among them a mark.
func kind(dst, raw []byte) []byte {
	var s rawjson.Scanner
	s.Reset(raw)
	if s.Kind() != rawjson.Array {
		dst = append(append(dst, `"type":`...), raw...)
		return append(dst, ',')
	}
	var types []string
	nullable := false
	for s.Array(); s.Next(); {
		if t := s.Text(); t == "null" {
			nullable = true
		} else {
			types = append(types, t)
		}
	}
	switch len(types) {
	case 0:
		dst = append(dst, `"type":"null",`...)
		nullable = false
	case 1:
		dst = append(rawjson.AppendString(append(dst, `"type":`...), types[0]), ',')
	default:
		dst = append(dst, `"anyOf":[`...)
		for _, t := range types {
			dst = append(rawjson.AppendString(append(dst, `{"type":`...), t), "},"...)
		}
		dst = append(rawjson.Close(dst, ']'), ',')
	}
	if nullable {
		dst = append(dst, `"nullable":true,`...)
	}
	return dst
}
