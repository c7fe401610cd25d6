package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// reference waits until all identities are known.
type reference struct {
	from   *node
	target string
	key    string
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
