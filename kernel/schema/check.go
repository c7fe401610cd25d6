package schema

import (
	"slices"
	"unicode/utf8"
)

// Limits of one check. They stop schemas that multiply work; no honest schema comes near.
const (
	maxSteps     = 5_000_000
	maxRecursion = 20_000
	maxFound     = 1_000
)

// run is one check of one instance. Runs are pooled.
type run struct {
	t       tape
	schema  *Schema
	collect bool // write down what is wrong, and go on
	found   []finding
	path    []step
	scope   []*resource
	steps   int
	depth   int
	spent   bool
}

// step is one step of an instance pointer.
type step struct {
	name  string
	index int // when name is blank and index is not negative
}

// finding is a violation before it is put into words.
type finding struct {
	offset  int32
	value   int32 // what to quote; -1: nothing
	pointer string
	at      string
	keyword string
	rule    string
}

// verdict checks the whole instance and stops at the first violation.
func (r *run) verdict(s *Schema) bool {
	r.reset(s, false)
	ok := r.fits(typeObject, 0) && r.check(s.root, 0, nil)
	return ok && !r.spent
}

// explain checks the whole instance and lists what is wrong.
func (r *run) explain(s *Schema) []Violation {
	r.reset(s, true)
	if !r.fits(typeObject, 0) {
		r.fail(s.root, 0, "type", "has to be object")
	} else {
		r.check(s.root, 0, nil)
	}
	if r.spent {
		r.found = append(r.found[:0], finding{value: -1, keyword: "$ref", rule: "checking takes too many steps"})
	}
	return r.words()
}

func (r *run) reset(s *Schema, collect bool) {
	r.schema, r.collect = s, collect
	r.found, r.path, r.scope = nil, r.path[:0], r.scope[:0]
	r.steps, r.depth, r.spent = 0, 0, false
}

// check reports whether the value at i satisfies n. ev collects what was looked at; nil when nobody asks.
func (r *run) check(n *node, i int32, ev *evaluated) bool {
	if n.typed && !r.fits(n.types, i) {
		if !r.collect {
			return false
		}
		return r.fail(n, i, "type", "has to be "+n.types.String())
	}
	if n.plain {
		return true
	}
	if n.never {
		return r.fail(n, i, "", "is not allowed here")
	}
	if r.steps++; r.steps > maxSteps || r.depth > maxRecursion {
		r.spent = true
		return false
	}
	r.depth++
	if r.schema.hops {
		r.scope = append(r.scope, n.res)
	}
	ok := r.apply(n, i, ev)
	if r.schema.hops {
		r.scope = r.scope[:len(r.scope)-1]
	}
	r.depth--
	return ok
}

func (r *run) apply(n *node, i int32, ev *evaluated) bool {
	var own *evaluated
	if k := r.t.tok[i].kind; r.schema.tracks && (k == object || k == array) {
		own = &evaluated{}
	}
	ok := r.values(n, i)
	if !ok && !r.collect {
		return false
	}
	if !r.logic(n, i, own) {
		if ok = false; !r.collect {
			return false
		}
	}
	switch r.t.tok[i].kind {
	case number:
		ok = (n.numbers == nil || r.number(n, i)) && ok
	case text:
		ok = (n.texts == nil || r.text(n, i)) && ok
	case object:
		ok = (n.members == nil || r.object(n, i, own)) && ok
	case array:
		ok = (n.items == nil || r.array(n, i, own)) && ok
	}
	if ok {
		ev.merge(own)
	}
	return ok
}

// fits reports whether the value has one of the types.
func (r *run) fits(t types, i int32) bool {
	tok := &r.t.tok[i]
	switch tok.kind {
	case null:
		return t&typeNull != 0
	case boolFalse, boolTrue:
		return t&typeBoolean != 0
	case text:
		return t&typeString != 0
	case array:
		return t&typeArray != 0
	case object:
		return t&typeObject != 0
	}
	return t&typeNumber != 0 || t&typeInteger != 0 && (!tok.odd || parseDecimal(r.t.raw(i)).integral())
}

func (r *run) values(n *node, i int32) bool {
	doc := &r.schema.doc
	if n.listed && !slices.ContainsFunc(n.values, func(v int32) bool { return equal(doc, v, &r.t, i) }) {
		if !r.collect {
			return false
		}
		list := ""
		for _, v := range n.values {
			if list != "" {
				list += ", "
			}
			if list += doc.raw(v); len(list) > quoteOne {
				break
			}
		}
		return r.fail(n, i, "enum", "has to be one of "+quote(list, quoteOne))
	}
	if n.fixed >= 0 && !equal(doc, n.fixed, &r.t, i) {
		return r.fail(n, i, "const", "has to be "+quote(doc.raw(n.fixed), quoteOne))
	}
	return true
}

func (r *run) number(n *node, i int32) bool {
	lit, b, ok := r.t.raw(i), n.numbers, true
	if b.minimum != nil && b.minimum.compare(lit) < 0 {
		ok = r.fail(n, i, "minimum", "has to be at least "+b.minimum.lit)
	}
	if b.maximum != nil && b.maximum.compare(lit) > 0 {
		ok = r.fail(n, i, "maximum", "has to be at most "+b.maximum.lit)
	}
	if b.above != nil && b.above.compare(lit) <= 0 {
		ok = r.fail(n, i, "exclusiveMinimum", "has to be above "+b.above.lit)
	}
	if b.below != nil && b.below.compare(lit) >= 0 {
		ok = r.fail(n, i, "exclusiveMaximum", "has to be below "+b.below.lit)
	}
	if b.multiple != nil && !b.multiple.divides(lit) {
		ok = r.fail(n, i, "multipleOf", "has to be a multiple of "+b.multiple.lit)
	}
	return ok
}

func (r *run) text(n *node, i int32) bool {
	s, rules, ok := r.t.str(i), n.texts, true
	if rules.minimum > 0 || rules.maximum >= 0 && rules.maximum < len(s) {
		count := utf8.RuneCountInString(s)
		if count < rules.minimum {
			ok = r.fail(n, i, "minLength", "has to have at least "+counted(rules.minimum, "character"))
		}
		if rules.maximum >= 0 && count > rules.maximum {
			ok = r.fail(n, i, "maxLength", "has to have at most "+counted(rules.maximum, "character"))
		}
	}
	if rules.pattern != nil && !rules.pattern.MatchString(s) {
		ok = r.fail(n, i, "pattern", "has to match "+quote(rules.source, quoteOne))
	}
	return ok
}
