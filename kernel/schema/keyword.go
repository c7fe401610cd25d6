package schema

import "strconv"

// keyword is how one keyword is read into a node. What its meta-schema asks of the value is checked on the way.
type keyword struct {
	dialects uint8 // bits of dialect
	read     func(c *compiler, n *node, name string, v int32)
}

func (k keyword) in(d dialect) bool { return k.dialects&(1<<d) != 0 }

const (
	all   = 1<<draft07 | 1<<draft2019 | 1<<draft2020
	since = 1<<draft2019 | 1<<draft2020
)

var keywords map[string]keyword

// The table refers to functions that use it, so it is filled at the start.
func init() {
	annotation := keyword{all, func(c *compiler, _ *node, name string, v int32) { c.text(v, name, func(string) {}) }}
	flag := keyword{all, func(c *compiler, _ *node, name string, v int32) { c.flag(v, name, func(bool) {}) }}
	keywords = map[string]keyword{
		"$schema": annotation, "$comment": annotation, "title": annotation, "description": annotation, "format": annotation,
		"contentMediaType": annotation, "contentEncoding": annotation, "$id": annotation,
		"readOnly": flag, "writeOnly": flag,
		"deprecated":       {since, flag.read},
		"$anchor":          {since, annotation.read},
		"$dynamicAnchor":   {1 << draft2020, annotation.read},
		"$recursiveAnchor": {1 << draft2019, flag.read},
		"examples":         {all, func(c *compiler, _ *node, name string, v int32) { c.list(v, name) }},
		"$vocabulary":      {since, func(c *compiler, _ *node, name string, v int32) { c.object(v, name) }},
		"contentSchema":    {since, func(c *compiler, n *node, name string, v int32) { c.sub(n, name, v) }},
		"$defs":            {since, readMap(nil)},
		"definitions":      {all, readMap(nil)},

		"$ref":          {all, readRef},
		"$dynamicRef":   {1 << draft2020, readRef},
		"$recursiveRef": {1 << draft2019, readRef},

		"type":  {all, readType},
		"enum":  {all, readEnum},
		"const": {all, func(_ *compiler, n *node, _ string, v int32) { n.fixed = v }},

		"allOf": {all, readList(func(n *node, l []*node) { n.allOf = l })},
		"anyOf": {all, readList(func(n *node, l []*node) { n.anyOf = l })},
		"oneOf": {all, readList(func(n *node, l []*node) { n.oneOf = l })},
		"not":   {all, readSub(func(n, s *node) { n.not = s })},
		"if":    {all, readSub(func(n, s *node) { n.when = s })},
		"then":  {all, readSub(func(n, s *node) { n.then = s })},
		"else":  {all, readSub(func(n, s *node) { n.other = s })},

		"multipleOf":       {all, readNumber(func(r *numberRules, b *bound) { r.multiple = b })},
		"minimum":          {all, readNumber(func(r *numberRules, b *bound) { r.minimum = b })},
		"maximum":          {all, readNumber(func(r *numberRules, b *bound) { r.maximum = b })},
		"exclusiveMinimum": {all, readNumber(func(r *numberRules, b *bound) { r.above = b })},
		"exclusiveMaximum": {all, readNumber(func(r *numberRules, b *bound) { r.below = b })},

		"minLength": {all, readCount(func(n *node, v int) { n.text().minimum = v })},
		"maxLength": {all, readCount(func(n *node, v int) { n.text().maximum = v })},
		"pattern":   {all, readPattern},

		"minProperties":         {all, readCount(func(n *node, v int) { n.member().minimum = v })},
		"maxProperties":         {all, readCount(func(n *node, v int) { n.member().maximum = v })},
		"required":              {all, readRequired},
		"properties":            {all, readProperties},
		"patternProperties":     {all, readPatternProperties},
		"additionalProperties":  {all, readSub(func(n, s *node) { n.member().additional = s })},
		"propertyNames":         {all, readSub(func(n, s *node) { n.member().names = s })},
		"dependentRequired":     {since, readDependents},
		"dependentSchemas":      {since, readDependents},
		"dependencies":          {all, readDependents},
		"unevaluatedProperties": {since, readSub(func(n, s *node) { n.member().unevaluated = s })},

		"minItems": {all, readCount(func(n *node, v int) { n.item().minimum = v })},
		"maxItems": {all, readCount(func(n *node, v int) { n.item().maximum = v })},
		"uniqueItems": {all, func(c *compiler, n *node, name string, v int32) {
			c.flag(v, name, func(b bool) { n.item().unique = b })
		}},
		"prefixItems":      {1 << draft2020, readList(func(n *node, l []*node) { n.item().prefix = l; n.item().prefixKey = "prefixItems" })},
		"items":            {all, readItems},
		"additionalItems":  {1<<draft07 | 1<<draft2019, func(c *compiler, n *node, name string, v int32) { c.sub(n, name, v) }},
		"contains":         {all, readSub(func(n, s *node) { n.item().contains = s })},
		"minContains":      {since, readCount(func(n *node, v int) { n.item().least = v })},
		"maxContains":      {since, readCount(func(n *node, v int) { n.item().most = v })},
		"unevaluatedItems": {since, readSub(func(n, s *node) { n.item().unevaluated = s })},
	}
}

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

// finish settles what depends on several keywords.
func (c *compiler) finish(i int32, n *node) {
	if more := c.t.member(i, "additionalItems"); more >= 0 && c.dialect != draft2020 && n.items != nil && n.items.prefix != nil {
		n.items.rest = c.nodes[more]
	}
	if n.members != nil {
		n.members.seal()
		c.tracks = c.tracks || n.members.unevaluated != nil
	}
	if n.items != nil {
		c.tracks = c.tracks || n.items.unevaluated != nil
	}
	if n.when == nil {
		n.then, n.other = nil, nil
	}
	referred := c.t.member(i, "$ref") >= 0 || c.t.member(i, "$dynamicRef") >= 0 || c.t.member(i, "$recursiveRef") >= 0
	n.plain = !n.never && !referred && !n.listed && n.fixed < 0 && n.numbers == nil && n.texts == nil && n.members == nil && n.items == nil &&
		n.allOf == nil && n.anyOf == nil && n.oneOf == nil && n.not == nil && n.when == nil
}
