package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/crystalkernel/crystal/points/tool"
)

// Limits of argument text.
const (
	maxBytes = 16 << 20
	maxDepth = 128
)

// Schema is an admitted schema. It is immutable and safe for use by several goroutines; [Compile] makes one.
type Schema struct {
	json    json.RawMessage
	doc     tape
	dialect dialect
	root    *node
	tracks  bool // some keyword asks what others have looked at
	hops    bool // some reference depends on how it was reached
}

// Invalid says why a schema is not admitted. Keyword is the JSON Schema keyword at fault, blank when the text as a whole
// is; Detail is one line about it.
type Invalid struct {
	Keyword string
	Detail  string
}

// Error implements error.
func (e *Invalid) Error() string {
	if e.Keyword == "" {
		return "schema: not admitted: " + e.Detail
	}
	return "schema: not admitted: " + e.Keyword + ": " + e.Detail
}

// Compile admits raw. The error is an [*Invalid].
func Compile(raw json.RawMessage) (*Schema, error) {
	s, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if s.doc.tok[0].kind != object {
		return nil, &Invalid{Keyword: "type", Detail: "the root has to be an object"}
	}
	if err := s.rootType(); err != nil {
		return nil, err
	}
	if i := s.doc.member(0, "$schema"); i >= 0 {
		known := false
		if s.doc.tok[i].kind == text {
			s.dialect, known = dialectNamed(s.doc.str(i))
		}
		if !known {
			return nil, &Invalid{Keyword: "$schema", Detail: "not draft 2020-12, 2019-09 or draft-07: " + quote(s.doc.raw(i), 100)}
		}
	}
	if err := s.build(); err != nil {
		return nil, err
	}
	return s, nil
}

// parse reads the text of a schema.
func parse(raw json.RawMessage) (*Schema, error) {
	if len(raw) > maxSchemaBytes {
		return nil, &Invalid{Detail: "it is over 256 KiB"}
	}
	s := &Schema{dialect: draft2020}
	if reason, at := s.doc.parse(string(raw), maxSchemaDepth); reason != "" {
		return nil, &Invalid{Detail: fmt.Sprintf("%s at byte %d", reason, at)}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, &Invalid{Detail: err.Error()}
	}
	s.json = compact.Bytes()
	return s, nil
}

// build compiles what was parsed.
func (s *Schema) build() error {
	c := &compiler{t: &s.doc, dialect: s.dialect, nodes: map[int32]*node{}, resources: map[string]*resource{}}
	s.root = c.run()
	if c.invalid != nil {
		return c.invalid
	}
	s.tracks, s.hops = c.tracks, c.hops
	return nil
}

// rootType wants the type object at the root, and adds it to what a model sees when it is absent.
func (s *Schema) rootType() error {
	i := s.doc.member(0, "type")
	switch {
	case i >= 0 && s.doc.tok[i].kind == text && s.doc.str(i) == "object":
	case i >= 0:
		return &Invalid{Keyword: "type", Detail: `the root has to be of type "object", not ` + quote(s.doc.raw(i), 100)}
	case s.doc.tok[0].count == 0:
		s.json = json.RawMessage(`{"type":"object"}`)
	default:
		s.json = append([]byte(`{"type":"object",`), s.json[1:]...)
	}
	return nil
}

// JSON returns the schema as a model sees it: without white space, keys in the order given, with "type":"object" in
// front at the root when it was absent. It must not be changed.
func (s *Schema) JSON() json.RawMessage { return s.json }

var runs = sync.Pool{New: func() any { return new(run) }}

// Check turns the argument text of a call into arguments: it parses the text, validates, and when that fails coerces
// what can be coerced without loss. A fault means that the call must not run; nothing is ever repaired. Valid arguments
// come back as they were written. args shares no memory with the text.
func (s *Schema) Check(text string) (args json.RawMessage, coercions []tool.Coercion, fault *Fault) {
	if len(text) > maxBytes {
		return nil, nil, &Fault{Reason: TooLarge, Offset: -1}
	}
	if skip(text, 0) == len(text) {
		text = "{}"
	}
	r := runs.Get().(*run)
	defer r.free()
	if fault := r.open(text, &coercions); fault != nil {
		return nil, nil, fault
	}
	valid := r.verdict(s)
	if valid && !r.t.odd {
		return json.RawMessage(r.t.raw(0)), coercions, nil
	}
	c := coercer{t: &r.t, valid: valid}
	c.write(0, widen(nil, s.root))
	switch {
	case len(c.recorded) == 0 && valid:
		return json.RawMessage(r.t.raw(0)), coercions, nil
	case valid:
		return c.out, append(coercions, c.recorded...), nil
	case len(c.recorded) > 0 && s.accepts(string(c.out)):
		return c.out, append(coercions, c.recorded...), nil
	}
	return nil, nil, &Fault{Reason: Unsatisfied, Offset: -1, Errors: r.explain(s)}
}

// open parses argument text. A string that holds one object is opened, once.
func (r *run) open(s string, coercions *[]tool.Coercion) *Fault {
	if reason, at := r.t.parse(s, maxDepth); reason != "" {
		return &Fault{Reason: reason, Offset: at}
	}
	if r.t.tok[0].kind == text {
		inner := r.t.str(0)
		if reason, _ := r.t.parse(inner, maxDepth); reason == "" && r.t.tok[0].kind == object {
			*coercions = []tool.Coercion{{Rule: ruleJSON}}
			return nil
		}
		return &Fault{Reason: NotObject, Offset: -1}
	}
	if r.t.tok[0].kind != object {
		return &Fault{Reason: NotObject, Offset: -1}
	}
	return nil
}

// accepts reports whether a text is valid as it stands.
func (s *Schema) accepts(text string) bool {
	r := runs.Get().(*run)
	defer r.free()
	reason, _ := r.t.parse(text, maxDepth)
	return reason == "" && r.verdict(s)
}

// free puts a run back, without what it was about.
func (r *run) free() {
	const keep = 4096
	r.t.src, r.schema, r.found = "", nil, nil
	clear(r.path[:cap(r.path)])
	clear(r.scope[:cap(r.scope)])
	if cap(r.t.tok) > keep || cap(r.path) > keep || cap(r.scope) > keep {
		return
	}
	runs.Put(r)
}

// Validate checks a JSON text as it stands and returns its violations, at most 20 in document order; none when it is
// valid. A text that is no JSON has one violation without a keyword.
func (s *Schema) Validate(text json.RawMessage) []Violation {
	r := runs.Get().(*run)
	defer r.free()
	if reason, at := r.t.parse(string(text), maxDepth); reason != "" {
		return []Violation{{Text: fmt.Sprintf("%s at byte %d", reason, at)}}
	}
	if r.verdict(s) {
		return nil
	}
	return r.explain(s)
}
