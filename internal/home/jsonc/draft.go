package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tailscale/hujson"
)

// Draft is the content of a file while it is being changed. A change keeps the comments, order and indentation of
// everything else. It is for one goroutine and dead when the function it was given to has returned.
type Draft struct {
	root    hujson.Value
	changed bool
	newline string
}

// Object returns the content as it stands.
func (d *Draft) Object() *Object { return newObject(d.object(), "") }

func (d *Draft) object() *hujson.Object { return d.root.Value.(*hujson.Object) }

// Set makes value, which is encoded as JSON, the value at the path of keys. Objects on the way are made when they are
// missing; a value on the way that is no object is an error. A value that is already so changes nothing.
func (d *Draft) Set(value any, keys ...string) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return err
	}
	o, depth := d.object(), 0
	for ; depth < len(keys)-1; depth++ {
		i := lastIndex(o, keys[depth])
		if i < 0 {
			break
		}
		inner, ok := o.Members[i].Value.Value.(*hujson.Object)
		if !ok {
			return fmt.Errorf("the value of %q is not an object", keys[depth])
		}
		o = inner
	}
	for k := len(keys) - 1; k > depth; k-- {
		name := hujson.Value{Value: hujson.String(keys[k])}
		v = hujson.Value{Value: &hujson.Object{Members: []hujson.ObjectMember{{Name: name, Value: v}}}}
	}
	if i := lastIndex(o, keys[depth]); i >= 0 {
		if sameValue(o.Members[i].Value, v) {
			return nil
		}
		o.Members[i].Value.Value = v.Value
		d.changed = true
		return nil
	}
	d.changed = true
	return d.insert(o, keys[:depth], keys[depth], v)
}

// Remove removes the member at the path of keys. A member that is missing changes nothing.
func (d *Draft) Remove(keys ...string) error {
	for d.root.Find(pointer(keys)) != nil {
		if err := d.patch("remove", pointer(keys), nil); err != nil {
			return err
		}
		d.changed = true
	}
	return nil
}

// Append adds a value, which is encoded as JSON, to the end of the array at the path of keys, which is made when it is
// missing. A value there that is no array is an error, so that nothing is lost.
func (d *Draft) Append(element any, keys ...string) error {
	v := d.root.Find(pointer(keys))
	if v == nil {
		return d.Set([]any{element}, keys...)
	}
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("the value of %q is not an array", keys[len(keys)-1])
	}
	value, err := json.Marshal(element)
	if err != nil {
		return err
	}
	if err := d.patch("add", pointer(keys)+"/-", value); err != nil {
		return err
	}
	d.changed = true
	n := len(arr.Elements)
	if n > 1 {
		e := &arr.Elements[n-1]
		e.BeforeExtra = d.indent(e.BeforeExtra, arr.Elements[n-2].BeforeExtra, n > 2)
	}
	return nil
}

// Drop removes the elements of the array at the path of keys that are texts and that test accepts.
func (d *Draft) Drop(test func(text string) bool, keys ...string) error {
	v := d.root.Find(pointer(keys))
	if v == nil {
		return nil
	}
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("the value of %q is not an array", keys[len(keys)-1])
	}
	for i := len(arr.Elements) - 1; i >= 0; i-- {
		lit, ok := literal(arr.Elements[i], '"')
		if !ok || !test(lit.String()) {
			continue
		}
		first := arr.Elements[0].BeforeExtra
		if err := d.patch("remove", fmt.Sprintf("%s/%d", pointer(keys), i), nil); err != nil {
			return err
		}
		if i == 0 && len(arr.Elements) > 0 && blank(first) && blank(arr.Elements[0].BeforeExtra) {
			arr.Elements[0].BeforeExtra = first
		}
		d.changed = true
	}
	return nil
}

// insert adds a member to the end of the object at path, in the layout of the member before it.
func (d *Draft) insert(o *hujson.Object, path []string, key string, v hujson.Value) error {
	end := o.AfterExtra
	if err := d.patch("add", pointer(append(path[:len(path):len(path)], key)), v.Pack()); err != nil {
		return err
	}
	n := len(o.Members)
	m := &o.Members[n-1]
	m.Value = spaced(m.Value)
	if n > 1 {
		m.Name.BeforeExtra = d.indent(m.Name.BeforeExtra, o.Members[n-2].Name.BeforeExtra, n > 2)
		if bytes.Equal(o.AfterExtra, []byte("\n")) {
			o.AfterExtra = hujson.Extra(d.newline)
		}
		return nil
	}
	// The only member of an object: on a line of its own, unless the object lies within a line of its parent.
	if len(path) > 0 {
		return nil
	}
	m.Name.BeforeExtra = append(bytes.TrimRight(end, " \t\r\n"), d.newline+"  "...)
	o.AfterExtra = hujson.Extra(d.newline)
	return nil
}

// indent gives own, what stands before a new entry, the blanks that stand before its elder sibling. inner says that the
// sibling isn't the first entry, whose blanks say nothing about the rest when all is on one line.
func (d *Draft) indent(own, sibling hujson.Extra, inner bool) hujson.Extra {
	blanks := sibling
	if i := bytes.LastIndexAny(sibling, "/"); i >= 0 {
		// Comments of the sibling are its own.
		blanks = sibling[i+1:]
		if j := bytes.LastIndexByte(sibling, '\n'); j >= 0 {
			blanks = sibling[j:]
		}
	}
	line := bytes.LastIndexByte(blanks, '\n')
	switch {
	case line < 0 && !inner:
		blanks = hujson.Extra(" ")
	case line >= 0:
		blanks = append(hujson.Extra(d.newline), blanks[line+1:]...)
		if bytes.HasSuffix(own, []byte("\n")) {
			blanks = blanks[len(d.newline):]
		}
	}
	return append(own[:len(own):len(own)], blanks...)
}

// patch applies one operation of RFC 6902; the parser's package moves comments with what they belong to.
func (d *Draft) patch(op, path string, value json.RawMessage) error {
	text, err := json.Marshal([]struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value,omitempty"`
	}{{op, path, value}})
	if err != nil {
		return err
	}
	return d.root.Patch(text)
}

// lastIndex returns the position of the last member of that name, which is the one that counts, or -1.
func lastIndex(o *hujson.Object, key string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if o.Members[i].Name.Value.(hujson.Literal).String() == key {
			return i
		}
	}
	return -1
}

// pointer makes an RFC 6901 pointer.
func pointer(keys []string) string {
	var b bytes.Buffer
	for _, k := range keys {
		b.WriteByte('/')
		for _, r := range k {
			switch r {
			case '~':
				b.WriteString("~0")
			case '/':
				b.WriteString("~1")
			default:
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// sameValue reports whether two values mean the same, whatever their layout.
func sameValue(a, b hujson.Value) bool {
	var x, y any
	if json.Unmarshal(plain(a), &x) != nil || json.Unmarshal(plain(b), &y) != nil {
		return false
	}
	xs, errX := json.Marshal(x)
	ys, errY := json.Marshal(y)
	return errX == nil && errY == nil && bytes.Equal(xs, ys)
}

// spaced puts one blank behind a colon, before a value and within it.
func spaced(v hujson.Value) hujson.Value {
	if o, ok := v.Value.(*hujson.Object); ok {
		for i := range o.Members {
			o.Members[i].Value = spaced(o.Members[i].Value)
		}
	}
	v.BeforeExtra = hujson.Extra(" ")
	return v
}

// blank reports whether there is no comment in e.
func blank(e hujson.Extra) bool { return len(bytes.TrimSpace(e)) == 0 }
