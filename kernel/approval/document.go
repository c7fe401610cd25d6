package approval

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tailscale/hujson"
)

// byteOrderMark may stand at the start of a file and stays there.
var byteOrderMark = []byte("\xef\xbb\xbf")

// document is permissions.json as its reader wrote it: comments, order, indentation and unknown keys are kept.
type document struct {
	mark   bool
	root   hujson.Value
	list   *hujson.Array // the grants; nil: there is no such member yet
	grants []grant       // those entries that count
}

// parseDocument reads the file. No data is a file without grants.
func parseDocument(data []byte) (*document, error) {
	d := &document{}
	data, d.mark = bytes.CutPrefix(data, byteOrderMark)
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{\n  \"version\": 1,\n  \"grants\": []\n}\n")
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	d.root = root
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%w: it holds no object", ErrUnreadable)
	}
	for i := range object.Members {
		member := &object.Members[i]
		name, _ := member.Name.Value.(hujson.Literal)
		switch name.String() {
		case "version":
			if v, ok := member.Value.Value.(hujson.Literal); !ok || string(v) != "1" {
				return nil, fmt.Errorf("%w: its version is not 1", ErrUnreadable)
			}
		case "grants":
			list, ok := member.Value.Value.(*hujson.Array)
			if !ok {
				return nil, fmt.Errorf("%w: grants is not a list", ErrUnreadable)
			}
			d.list = list // of two members with this name the last one counts
		}
	}
	if d.list == nil {
		return d, nil
	}
	for i := range d.list.Elements {
		entry := d.list.Elements[i].Clone()
		entry.Minimize()
		if g, ok := parseGrant(json.RawMessage(entry.Pack())); ok {
			d.grants = append(d.grants, g)
		}
	}
	return d, nil
}

func (d *document) covers(want *grant) bool {
	for i := range d.grants {
		if d.grants[i].covers(want) {
			return true
		}
	}
	return false
}

// with returns the file with g at the end of its grants. The document is used up by it.
func (d *document) with(g grant) ([]byte, error) {
	text, err := json.Marshal(g.stored())
	if err != nil {
		return nil, fmt.Errorf("approval: writing %s: %w", permissionsFile, err)
	}
	entry, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("approval: writing %s: %w", permissionsFile, err)
	}
	if d.list == nil {
		d.addList()
	}
	// One grant for each line, below the one before it.
	entry.BeforeExtra = hujson.Extra("\n    ")
	if n := len(d.list.Elements); n > 0 {
		if before := d.list.Elements[n-1].BeforeExtra; isSpace(before) {
			entry.BeforeExtra = before
		}
	} else if len(d.list.AfterExtra) == 0 {
		d.list.AfterExtra = hujson.Extra("\n  ")
	}
	d.list.Elements = append(d.list.Elements, entry)
	out := d.root.Pack()
	if d.mark {
		out = append(bytes.Clone(byteOrderMark), out...)
	}
	return out, nil
}

// addList adds an empty list of grants to a file that has none.
func (d *document) addList() {
	object := d.root.Value.(*hujson.Object) // parseDocument has seen it
	d.list = &hujson.Array{}
	object.Members = append(object.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra("\n  "), Value: hujson.String("grants")},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: d.list},
	})
}

func isSpace(e hujson.Extra) bool { return len(bytes.TrimSpace(e)) == 0 }
