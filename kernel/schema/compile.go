package schema

import (
	"fmt"
	"net/url"
	"strings"
)

// Limits of an admitted schema.
const (
	maxSchemaBytes = 256 << 10
	maxSchemaDepth = 64
)

// dialect is a draft of JSON Schema.
type dialect uint8

const (
	draft07 dialect = iota
	draft2019
	draft2020
)

// dialects names the drafts by their meta-schema, without scheme and without an empty fragment.
var dialects = map[string]dialect{
	"json-schema.org/draft-07/schema":      draft07,
	"json-schema.org/draft/2019-09/schema": draft2019,
	"json-schema.org/draft/2020-12/schema": draft2020,
}

func dialectNamed(uri string) (dialect, bool) {
	uri = strings.TrimSuffix(uri, "#")
	for _, scheme := range []string{"https://", "http://"} {
		if rest, ok := strings.CutPrefix(uri, scheme); ok {
			d, known := dialects[rest]
			return d, known
		}
	}
	return 0, false
}

// compiler turns the tape of a schema into nodes. Each place of the tape is compiled once, so schemas may refer to
// themselves.
type compiler struct {
	t         *tape
	dialect   dialect
	nodes     map[int32]*node
	resources map[string]*resource
	refs      []reference
	invalid   *Invalid
	tracks    bool // something is unevaluated
	hops      bool
}

func (c *compiler) refuse(keyword, format string, args ...any) {
	if c.invalid == nil {
		c.invalid = &Invalid{Keyword: keyword, Detail: fmt.Sprintf(format, args...)}
	}
}

// run compiles the whole tape and returns its root.
func (c *compiler) run() *node {
	base := &url.URL{Scheme: "schema", Path: "/"}
	res := &resource{uri: base, root: 0}
	c.resources[identity(base)] = res
	root := c.compile(0, "", res)
	for len(c.refs) > 0 && c.invalid == nil {
		r := c.refs[0]
		c.refs = c.refs[1:]
		c.resolve(r)
	}
	if c.invalid == nil {
		c.acyclic()
	}
	return root
}

// compile compiles the schema at place i of the tape, whose enclosing resource is res.
func (c *compiler) compile(i int32, at string, res *resource) *node {
	if n := c.nodes[i]; n != nil {
		return n
	}
	n := &node{at: at, res: res, fixed: -1}
	c.nodes[i] = n
	switch c.t.tok[i].kind {
	case boolTrue:
		n.plain = true
		return n
	case boolFalse:
		n.never = true
		return n
	case object:
	default:
		c.refuse(keywordOf(at), "a schema is an object or a boolean, at %s", place(at))
		return n
	}
	if ref := c.t.member(i, "$ref"); c.dialect == draft07 && ref >= 0 {
		c.text(ref, "$ref", func(s string) { c.refs = append(c.refs, reference{n, s, "$ref"}) })
		c.definitions(i, n)
		return n
	}
	c.identify(i, n)
	t := c.t
	for k := i + 1; k < t.tok[i].next; k = t.tok[k+1].next {
		name := t.str(k)
		if word, ok := keywords[name]; ok && word.in(c.dialect) {
			word.read(c, n, name, k+1)
		}
		if c.invalid != nil {
			return n
		}
	}
	c.finish(i, n)
	return n
}

// definitions compiles what draft-07 allows beside a reference, which is nothing that asserts.
func (c *compiler) definitions(i int32, n *node) {
	if d := c.t.member(i, "definitions"); d >= 0 {
		keywords["definitions"].read(c, n, "definitions", d)
	}
}

func place(at string) string {
	if at == "" {
		return "the root"
	}
	return quote(at, 100)
}

// keywordOf returns the last step of a schema pointer that is a keyword.
func keywordOf(at string) string {
	steps := strings.Split(at, "/")
	for i := len(steps) - 1; i > 0; i-- {
		if _, ok := keywords[steps[i]]; ok {
			return steps[i]
		}
	}
	return ""
}
