package schema

import (
	"fmt"
	"net/url"
	"strconv"
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

// resource is a schema with an identity of its own: the root, or one with $id.
type resource struct {
	uri       *url.URL
	root      int32
	anchors   map[string]int32
	dynamic   map[string]*node
	recursive *node // the root, when it has $recursiveAnchor
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

// reference waits until all identities are known.
type reference struct {
	from   *node
	target string
	key    string
}

// identity is the text of a URI without fragment, the same however it came about.
func identity(u *url.URL) string {
	plain := *u
	plain.Fragment, plain.RawFragment, plain.OmitHost = "", "", false
	return plain.String()
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

// identify gives the node its resource and registers its anchors.
func (c *compiler) identify(i int32, n *node) {
	t := c.t
	if id := t.member(i, "$id"); id >= 0 && t.tok[id].kind == text {
		c.newResource(i, t.str(id), n)
	}
	if s := t.member(i, "$schema"); s >= 0 && i != 0 && t.tok[s].kind == text {
		if d, ok := dialectNamed(t.str(s)); !ok || d != c.dialect {
			c.refuse("$schema", "an embedded schema has another dialect, at %s", place(n.at))
		}
	}
	if c.dialect == draft07 {
		return
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		a := t.member(i, key)
		if a < 0 || t.tok[a].kind != text || key == "$dynamicAnchor" && c.dialect != draft2020 {
			continue
		}
		name := t.str(a)
		if !anchorName(name, c.dialect) {
			c.refuse(key, "not the name of an anchor: %s", quote(name, 60))
			return
		}
		c.anchor(n.res, name, i, key)
		if key == "$dynamicAnchor" {
			if n.res.dynamic == nil {
				n.res.dynamic = map[string]*node{}
			}
			n.res.dynamic[name] = n
		}
	}
	if r := t.member(i, "$recursiveAnchor"); c.dialect == draft2019 && r >= 0 && t.tok[r].kind == boolTrue && i == n.res.root {
		n.res.recursive = n
	}
}

func (c *compiler) anchor(res *resource, name string, i int32, key string) {
	if old, taken := res.anchors[name]; taken && old != i {
		c.refuse(key, "the anchor %s is given twice", quote(name, 60))
		return
	}
	if res.anchors == nil {
		res.anchors = map[string]int32{}
	}
	res.anchors[name] = i
}

func (c *compiler) newResource(i int32, id string, n *node) {
	ref, err := url.Parse(id)
	if err != nil {
		c.refuse("$id", "not a URI reference: %s", quote(id, 100))
		return
	}
	if ref.Fragment != "" {
		if c.dialect != draft07 || strings.IndexByte(id, '#') != 0 {
			c.refuse("$id", "a fragment is not allowed: %s", quote(id, 100))
			return
		}
		c.anchor(n.res, ref.Fragment, i, "$id")
		return
	}
	if id == "#" || id == "" {
		return
	}
	uri := n.res.uri.ResolveReference(ref)
	if i == 0 {
		n.res.uri = uri
		c.resources[identity(uri)] = n.res
		return
	}
	if _, taken := c.resources[identity(uri)]; taken {
		c.refuse("$id", "the identity %s is given twice", quote(id, 100))
		return
	}
	n.res = &resource{uri: uri, root: i}
	c.resources[identity(uri)] = n.res
}

// resolve finds the end of a reference inside the document.
func (c *compiler) resolve(r reference) {
	ref, err := url.Parse(r.target)
	if err != nil {
		c.refuse(r.key, "not a URI reference: %s", quote(r.target, 100))
		return
	}
	uri := r.from.res.uri.ResolveReference(ref)
	fragment := uri.Fragment
	res := c.resources[identity(uri)]
	if res == nil {
		c.refuse(r.key, "%s is not in this document; nothing is fetched", quote(r.target, 100))
		return
	}
	var end *node
	switch {
	case fragment == "":
		end = c.at(res.root, res)
	case fragment[0] == '/':
		end = c.walk(res, fragment)
	default:
		if i, ok := res.anchors[fragment]; ok {
			end = c.at(i, res)
		}
	}
	if end == nil {
		c.refuse(r.key, "%s leads nowhere", quote(r.target, 100))
		return
	}
	switch r.key {
	case "$ref":
		r.from.ref = end
	case "$dynamicRef":
		bound := end.res.dynamic[fragment] == end && fragment != ""
		r.from.hop = &hop{to: end, anchor: fragment, bound: bound}
	case "$recursiveRef":
		r.from.hop = &hop{to: end, bound: end.res.recursive == end}
	}
	if r.key != "$ref" {
		r.from.refKey = r.key
		c.hops = true
	}
}

// at returns the node at a place that has an identity.
func (c *compiler) at(i int32, res *resource) *node {
	if n := c.nodes[i]; n != nil {
		return n
	}
	return c.compile(i, "", res)
}

// walk follows a JSON pointer from the root of a resource. It may end where no keyword holds a schema: such a place is
// compiled when something refers to it.
func (c *compiler) walk(res *resource, pointer string) *node {
	i, at := res.root, ""
	if root := c.nodes[i]; root != nil {
		at = root.at
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		next := int32(-1)
		switch c.t.tok[i].kind {
		case object:
			next = c.t.member(i, step)
		case array:
			if n, err := strconv.Atoi(step); err == nil && strconv.Itoa(n) == step {
				next = c.t.item(i, n)
			}
		}
		if next < 0 {
			return nil
		}
		i, at = next, at+"/"+escapePointer(step)
		if n := c.nodes[i]; n != nil {
			res = n.res
		}
	}
	if k := c.t.tok[i].kind; k != object && k != boolTrue && k != boolFalse {
		return nil
	}
	return c.compile(i, at, res)
}

// acyclic refuses references that lead back to where they began without consuming a part of the instance.
func (c *compiler) acyclic() {
	const (
		open = 1
		done = 2
	)
	state := make(map[*node]int, len(c.nodes))
	var visit func(n *node) bool
	visit = func(n *node) bool {
		switch state[n] {
		case open:
			return false
		case done:
			return true
		}
		state[n] = open
		fine := true
		n.inPlace(func(s *node) { fine = fine && visit(s) })
		if n.hop != nil {
			for _, s := range c.ends(n.hop) {
				fine = fine && visit(s)
			}
		}
		state[n] = done
		return fine
	}
	for i := int32(0); i < int32(len(c.t.tok)); i++ {
		if n := c.nodes[i]; n != nil && !visit(n) {
			c.refuse("$ref", "references go round in a circle from %s", place(n.at))
			return
		}
	}
}

// ends lists every node where a hop may end.
func (c *compiler) ends(h *hop) []*node {
	list := []*node{h.to}
	if !h.bound {
		return list
	}
	for _, r := range c.resources {
		if h.anchor == "" && r.recursive != nil {
			list = append(list, r.recursive)
		} else if n := r.dynamic[h.anchor]; n != nil {
			list = append(list, n)
		}
	}
	return list
}

// escapePointer escapes one step of a JSON pointer.
func escapePointer(s string) string {
	if strings.ContainsAny(s, "~/") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
	}
	return s
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

// anchorName reports whether s may name an anchor.
func anchorName(s string, d dialect) bool {
	extra := "-._"
	if d == draft2019 {
		extra = "-._:"
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i == 0 && r == '_' && d == draft2020
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || strings.ContainsRune(extra, r))) {
			return false
		}
	}
	return s != ""
}
