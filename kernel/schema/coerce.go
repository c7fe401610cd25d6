package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/crystalkernel/crystal/points/tool"
)

// Names of the rules of lossless coercion, as they are recorded.
const (
	ruleInteger  = "integerFromString"
	ruleNumber   = "numberFromString"
	ruleBoolean  = "booleanFromString"
	ruleNull     = "nullFromString"
	ruleJSON     = "jsonFromString"
	ruleDropped  = "nullDropped"
	ruleNotation = "integerNotation"
)

// coercer writes an instance anew, with values whose type is refused at their place changed where that loses nothing.
type coercer struct {
	t        *tape
	valid    bool // the instance is valid: only the notation of integers is changed
	out      []byte
	path     []step
	recorded []tool.Coercion
}

func (c *coercer) record(rule string) {
	c.recorded = append(c.recorded, tool.Coercion{Pointer: pointer(c.path), Rule: rule})
}

// write writes the value at i, whose place the schemas of set speak about.
func (c *coercer) write(i int32, set []*node) {
	allowed, typed := typesOf(set)
	tok := &c.t.tok[i]
	switch tok.kind {
	case text:
		if typed && !c.valid && allowed&typeString == 0 && c.fromText(i, allowed, set) {
			return
		}
	case number:
		if tok.odd && typed && allowed&typeInteger != 0 && allowed&typeNumber == 0 {
			if n, ok := parseDecimal(c.t.raw(i)).int64(); ok {
				c.record(ruleNotation)
				c.out = strconv.AppendInt(c.out, n, 10)
				return
			}
		}
	case object:
		c.object(i, set)
		return
	case array:
		c.array(i, set)
		return
	}
	c.out = append(c.out, c.t.raw(i)...)
}

// fromText applies the rules for strings.
func (c *coercer) fromText(i int32, allowed types, set []*node) bool {
	s := c.t.str(i)
	trimmed := strings.TrimSpace(s)
	if allowed&typeInteger != 0 {
		if n, ok := integerText(trimmed); ok {
			c.record(ruleInteger)
			c.out = strconv.AppendInt(c.out, n, 10)
			return true
		}
	}
	if allowed&typeNumber != 0 {
		if lit, ok := numberText(trimmed); ok {
			c.record(ruleNumber)
			c.out = append(c.out, lit...)
			return true
		}
	}
	if allowed&typeBoolean != 0 {
		switch s {
		case "true", "True", "TRUE":
			c.record(ruleBoolean)
			c.out = append(c.out, "true"...)
			return true
		case "false", "False", "FALSE":
			c.record(ruleBoolean)
			c.out = append(c.out, "false"...)
			return true
		}
	}
	if allowed&typeNull != 0 && s == "null" {
		c.record(ruleNull)
		c.out = append(c.out, s...)
		return true
	}
	return allowed&(typeArray|typeObject) != 0 && c.open(s, allowed, set)
}

// open takes a string that is the JSON text of an array or an object for that value.
func (c *coercer) open(s string, allowed types, set []*node) bool {
	if start := skip(s, 0); start == len(s) || s[start] != '[' && s[start] != '{' {
		return false
	}
	var inner tape
	if reason, _ := inner.parse(s, maxDepth-len(c.path)); reason != "" {
		return false
	}
	if k := inner.tok[0].kind; k == array && allowed&typeArray == 0 || k == object && allowed&typeObject == 0 {
		return false
	}
	c.record(ruleJSON)
	outer := c.t
	c.t = &inner
	c.write(0, set)
	c.t = outer
	return true
}

func (c *coercer) object(i int32, set []*node) {
	c.out = append(c.out, '{')
	first := true
	end := c.t.tok[i].next
	for k := i + 1; k < end; k = c.t.tok[k+1].next {
		name := c.t.str(k)
		here := placesOf(set, func(n *node, add func(*node)) { n.memberPlaces(name, add) })
		c.path = append(c.path, step{name, -1})
		if c.t.tok[k+1].kind == null && !c.valid && droppable(here, set, name) {
			c.record(ruleDropped)
			c.path = c.path[:len(c.path)-1]
			continue
		}
		if !first {
			c.out = append(c.out, ',')
		}
		first = false
		c.out = append(append(c.out, c.t.raw(k)...), ':')
		c.write(k+1, here)
		c.path = c.path[:len(c.path)-1]
	}
	c.out = append(c.out, '}')
}

func (c *coercer) array(i int32, set []*node) {
	c.out = append(c.out, '[')
	at := 0
	end := c.t.tok[i].next
	for k := i + 1; k < end; k = c.t.tok[k].next {
		if at > 0 {
			c.out = append(c.out, ',')
		}
		c.path = append(c.path, step{index: at})
		c.write(k, placesOf(set, func(n *node, add func(*node)) { n.itemPlaces(at, add) }))
		c.path = c.path[:len(c.path)-1]
		at++
	}
	c.out = append(c.out, ']')
}

// droppable reports whether null may be left out: its place allows no null and nobody requires the member.
func droppable(here, set []*node, name string) bool {
	allowed, typed := typesOf(here)
	if !typed || allowed&typeNull != 0 {
		return false
	}
	for _, n := range set {
		if n.members == nil {
			continue
		}
		if p := n.members.find(name); p >= 0 && slices.Contains(n.members.required, p) {
			return false
		}
	}
	return true
}

// memberPlaces adds the schemas that speak about a member.
func (n *node) memberPlaces(name string, add func(*node)) {
	m := n.members
	if m == nil {
		return
	}
	known := false
	if p := m.find(name); p >= 0 && m.list[p].schema != nil {
		known = true
		add(m.list[p].schema)
	}
	for _, p := range m.patterns {
		if p.pattern.MatchString(name) {
			known = true
			add(p.schema)
		}
	}
	if !known && m.additional != nil {
		add(m.additional)
	}
}

// itemPlaces adds the schema that speaks about an item.
func (n *node) itemPlaces(at int, add func(*node)) {
	l := n.items
	switch {
	case l == nil:
	case at < len(l.prefix):
		add(l.prefix[at])
	case l.rest != nil:
		add(l.rest)
	}
}

// placesOf gathers the schemas of a place, each once, through allOf and $ref.
func placesOf(set []*node, each func(n *node, add func(*node))) []*node {
	var out []*node
	for _, n := range set {
		each(n, func(s *node) { out = widen(out, s) })
	}
	return out
}

func widen(set []*node, n *node) []*node {
	if slices.Contains(set, n) {
		return set
	}
	set = append(set, n)
	if n.ref != nil {
		set = widen(set, n.ref)
	}
	for _, s := range n.allOf {
		set = widen(set, s)
	}
	return set
}

// typesOf returns what all schemas of a set allow; typed is false when none names a type.
func typesOf(set []*node) (allowed types, typed bool) {
	for _, n := range set {
		switch {
		case !n.typed:
		case typed:
			allowed = allowed.and(n.types)
		default:
			allowed, typed = n.types, true
		}
	}
	return allowed, typed
}

// integerText reads [+-]? and digits without leading zeros that fit in 64 bits.
func integerText(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "+")
	if digits == s {
		digits = strings.TrimPrefix(s, "-")
	}
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// numberText reads an optional + and a JSON number that is finite in 64-bit floating point.
func numberText(s string) (string, bool) {
	lit := strings.TrimPrefix(s, "+")
	if lit == "" || lit != s && lit[0] == '-' || lit[0] != '-' && (lit[0] < '0' || lit[0] > '9') {
		return "", false
	}
	var t tape
	if reason, _ := t.parse(lit, 1); reason != "" {
		return "", false
	}
	f, err := strconv.ParseFloat(lit, 64)
	return lit, err == nil && !math.IsInf(f, 0)
}
