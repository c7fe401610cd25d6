package schema

import (
	"net/url"
	"strings"
)

// resource is a schema with an identity of its own: the root, or one with $id.
type resource struct {
	uri       *url.URL
	root      int32
	anchors   map[string]int32
	dynamic   map[string]*node
	recursive *node // the root, when it has $recursiveAnchor
}

// identity is the text of a URI without fragment, the same however it came about.
func identity(u *url.URL) string {
	plain := *u
	plain.Fragment, plain.RawFragment, plain.OmitHost = "", "", false
	return plain.String()
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
