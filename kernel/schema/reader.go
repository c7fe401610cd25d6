package schema

import "strconv"

func (n *node) text() *textRules {
	if n.texts == nil {
		n.texts = &textRules{minimum: -1, maximum: -1}
	}
	return n.texts
}

func (n *node) member() *memberRules {
	if n.members == nil {
		n.members = &memberRules{minimum: -1, maximum: -1}
	}
	return n.members
}

func (n *node) item() *itemRules {
	if n.items == nil {
		n.items = &itemRules{minimum: -1, maximum: -1, least: 1, most: -1}
	}
	return n.items
}

func (c *compiler) text(v int32, name string, use func(string)) {
	if c.t.tok[v].kind != text {
		c.refuse(name, "not a string")
		return
	}
	use(c.t.str(v))
}

func (c *compiler) flag(v int32, name string, use func(bool)) {
	k := c.t.tok[v].kind
	if k != boolTrue && k != boolFalse {
		c.refuse(name, "not a boolean")
		return
	}
	use(k == boolTrue)
}

// list returns the items of an array.
func (c *compiler) list(v int32, name string) []int32 {
	tok := &c.t.tok[v]
	if tok.kind != array {
		c.refuse(name, "not an array")
		return nil
	}
	items := make([]int32, 0, tok.count)
	for k := v + 1; k < tok.next; k = c.t.tok[k].next {
		items = append(items, k)
	}
	return items
}

// object returns the keys of an object.
func (c *compiler) object(v int32, name string) []int32 {
	tok := &c.t.tok[v]
	if tok.kind != object {
		c.refuse(name, "not an object")
		return nil
	}
	keys := make([]int32, 0, tok.count)
	for k := v + 1; k < tok.next; k = c.t.tok[k+1].next {
		keys = append(keys, k)
	}
	return keys
}

// names returns the texts of an array in which none may come twice.
func (c *compiler) names(v int32, name string) []string {
	var out []string
	seen := map[string]bool{}
	for _, i := range c.list(v, name) {
		c.text(i, name, func(s string) {
			if seen[s] {
				c.refuse(name, "%s is named twice", quote(s, 60))
			}
			seen[s] = true
			out = append(out, s)
		})
	}
	return out
}

func (c *compiler) sub(n *node, name string, v int32) *node {
	return c.compile(v, n.at+"/"+escapePointer(name), n.res)
}

func readSub(set func(n, sub *node)) func(*compiler, *node, string, int32) {
	return func(c *compiler, n *node, name string, v int32) { set(n, c.sub(n, name, v)) }
}

func readList(set func(*node, []*node)) func(*compiler, *node, string, int32) {
	return func(c *compiler, n *node, name string, v int32) {
		places := c.list(v, name)
		if len(places) == 0 {
			c.refuse(name, "holds no schema")
		}
		list := make([]*node, len(places))
		for i, p := range places {
			list[i] = c.compile(p, n.at+"/"+name+"/"+strconv.Itoa(i), n.res)
		}
		set(n, list)
	}
}

// readMap compiles the values of an object, for references to reach them.
func readMap(set func(n *node, key string, sub *node)) func(*compiler, *node, string, int32) {
	return func(c *compiler, n *node, name string, v int32) {
		for _, k := range c.object(v, name) {
			key := c.t.str(k)
			sub := c.compile(k+1, n.at+"/"+name+"/"+escapePointer(key), n.res)
			if set != nil {
				set(n, key, sub)
			}
		}
	}
}

func readRef(c *compiler, n *node, name string, v int32) {
	c.text(v, name, func(s string) {
		if name == "$recursiveRef" && s != "#" {
			c.refuse(name, "has to be #")
		}
		c.refs = append(c.refs, reference{n, s, name})
	})
}

func readType(c *compiler, n *node, name string, v int32) {
	n.typed = true
	places := []int32{v}
	if c.t.tok[v].kind == array {
		if places = c.list(v, name); len(places) == 0 {
			c.refuse(name, "names no type")
		}
	}
	for _, p := range places {
		c.text(p, name, func(s string) {
			t := typeNamed(s)
			if t == 0 || n.types&t != 0 {
				c.refuse(name, "%s is unknown or named twice", quote(s, 60))
			}
			n.types |= t
		})
	}
}

func readEnum(c *compiler, n *node, name string, v int32) {
	n.values, n.listed = c.list(v, name), true
}

func readNumber(set func(*numberRules, *bound)) func(*compiler, *node, string, int32) {
	return func(c *compiler, n *node, name string, v int32) {
		if c.t.tok[v].kind != number {
			c.refuse(name, "not a number")
			return
		}
		b := newBound(c.t.raw(v))
		if name == "multipleOf" && b.exact.sign() <= 0 {
			c.refuse(name, "not above zero")
			return
		}
		if n.numbers == nil {
			n.numbers = &numberRules{}
		}
		set(n.numbers, b)
	}
}

func readCount(set func(*node, int)) func(*compiler, *node, string, int32) {
	return func(c *compiler, n *node, name string, v int32) {
		if c.t.tok[v].kind == number {
			if d := parseDecimal(c.t.raw(v)); d.integral() && d.sign() >= 0 {
				count, ok := d.int64()
				if !ok || count > 1<<31 {
					count = 1 << 31
				}
				set(n, int(count))
				return
			}
		}
		c.refuse(name, "not a whole number from 0 on")
	}
}

func readPattern(c *compiler, n *node, name string, v int32) {
	c.text(v, name, func(s string) {
		re, err := compilePattern(s)
		if err != nil {
			c.refuse(name, "%v", err)
			return
		}
		n.text().pattern, n.text().source = re, s
	})
}

func readRequired(c *compiler, n *node, name string, v int32) {
	m := n.member()
	for _, s := range c.names(v, name) {
		m.required = append(m.required, m.place(s))
	}
}

func readProperties(c *compiler, n *node, name string, v int32) {
	m := n.member()
	readMap(func(_ *node, key string, sub *node) { m.list[m.place(key)].schema = sub })(c, n, name, v)
}

func readPatternProperties(c *compiler, n *node, name string, v int32) {
	m := n.member()
	readMap(func(_ *node, key string, sub *node) {
		re, err := compilePattern(key)
		if err != nil {
			c.refuse(name, "%v", err)
			return
		}
		m.patterns = append(m.patterns, patternMember{re, sub})
	})(c, n, name, v)
}

// readDependents reads what later drafts split into two keywords. They check its form and give it no meaning.
func readDependents(c *compiler, n *node, name string, v int32) {
	for _, k := range c.object(v, name) {
		d := dependent{name: c.t.str(k), keyword: name}
		lists := name == "dependentRequired" || name == "dependencies" && c.t.tok[k+1].kind == array
		if lists {
			d.needs = c.names(k+1, name)
		} else {
			d.schema = c.compile(k+1, n.at+"/"+name+"/"+escapePointer(d.name), n.res)
		}
		if name != "dependencies" || c.dialect == draft07 {
			n.member().dependents = append(n.member().dependents, d)
		}
	}
}

func readItems(c *compiler, n *node, name string, v int32) {
	if c.t.tok[v].kind == array && c.dialect != draft2020 {
		readList(func(n *node, l []*node) { n.item().prefix = l })(c, n, name, v)
		n.item().prefixKey = "items"
		return
	}
	n.item().rest = c.sub(n, name, v)
}
