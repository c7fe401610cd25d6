package schema

import (
	"fmt"
	"strconv"
)

// quiet checks without writing anything down.
func (r *run) quiet(n *node, i int32, ev *evaluated) bool {
	collect := r.collect
	r.collect = false
	ok := r.check(n, i, ev)
	r.collect = collect
	return ok
}

// logic applies what looks at the same value again.
func (r *run) logic(n *node, i int32, own *evaluated) bool {
	ok := true
	if n.ref != nil {
		ok = r.check(n.ref, i, own)
	}
	if n.hop != nil {
		ok = r.check(r.end(n.hop), i, own) && ok
	}
	for _, s := range n.allOf {
		if ok = r.check(s, i, own) && ok; !ok && !r.collect {
			return false
		}
	}
	if n.anyOf != nil {
		matches := false
		for _, s := range n.anyOf {
			if matches = r.quiet(s, i, own) || matches; matches && own == nil {
				break
			}
		}
		if !matches {
			ok = r.fail(n, i, "anyOf", "has to match one of "+counted(len(n.anyOf), "alternative"))
		}
	}
	if n.oneOf != nil {
		matched := 0
		for _, s := range n.oneOf {
			if r.quiet(s, i, own) {
				matched++
			}
		}
		if matched != 1 {
			ok = r.fail(n, i, "oneOf", fmt.Sprintf("has to match exactly one of %s, and matches %d", counted(len(n.oneOf), "alternative"), matched))
		}
	}
	if n.not != nil && r.quiet(n.not, i, nil) {
		ok = r.fail(n, i, "not", "matches what it must not match")
	}
	if n.when != nil {
		next := n.other
		if r.quiet(n.when, i, own) {
			next = n.then
		}
		if next != nil {
			ok = r.check(next, i, own) && ok
		}
	}
	if n.members != nil && r.t.tok[i].kind == object {
		for d := range n.members.dependents {
			ok = r.dependent(n, &n.members.dependents[d], i, own) && ok
		}
	}
	return ok
}

// end finds where a hop leads: the outermost resource on the way here that has the anchor.
func (r *run) end(h *hop) *node {
	if !h.bound {
		return h.to
	}
	for _, res := range r.scope {
		if h.anchor == "" && res.recursive != nil {
			return res.recursive
		}
		if n := res.dynamic[h.anchor]; n != nil {
			return n
		}
	}
	return h.to
}

func (r *run) dependent(n *node, d *dependent, i int32, own *evaluated) bool {
	if r.t.member(i, d.name) < 0 {
		return true
	}
	if d.schema != nil {
		return r.check(d.schema, i, own)
	}
	ok := true
	for _, name := range d.needs {
		if r.t.member(i, name) < 0 {
			ok = r.fail(n, i, d.keyword, fmt.Sprintf("lacks %q, which has to stand beside %q", quote(name, 60), quote(d.name, 60)))
		}
	}
	return ok
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
